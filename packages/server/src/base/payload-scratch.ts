import { blobReference } from '@sluice/core';
import { type ErrorCode, LIMITS, SluiceError } from '@sluice/protocol';

const INITIAL_BYTES = 1024 * 1024;

const TOO_DEEP = `is nested too deeply: ${LIMITS.payloadDepthMax} levels are taken`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Turns the payloads of one request into bytes, one after the other, as commands expect them.
 *
 * The memory is reused for the next request: a command no longer needs its payloads when `execute`
 * returns.
 */
export class PayloadScratch {
  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  readonly ends: number[] = [];
  private length = 0;
  private takesBlobs = true;
  private pathOf: (index: number) => string = String;

  /**
   * Starts a request. `pathOf` names the payload of an entry in errors, as a JSON pointer;
   * `takesBlobs` says whether a blob may be sent in its place.
   */
  begin(pathOf: (index: number) => string, takesBlobs = true): void {
    this.takesBlobs = takesBlobs;
    this.length = 0;
    this.ends.length = 0;
    this.pathOf = pathOf;
  }

  /** Adds the JSON value of the next entry; null adds no bytes. */
  add(value: unknown): void {
    if (value !== undefined && value !== null) this.write(this.jsonText(value));
    this.ends.push(this.length);
  }

  /** Adds a reference to the blob that holds the payload of the next entry. */
  addBlob(sha256: string): void {
    this.write(blobReference(sha256));
    this.ends.push(this.length);
  }

  private write(text: string): void {
    // At most three bytes of UTF-8 per UTF-16 unit.
    this.reserve(text.length * 3);
    const written = this.bytes.write(text, this.length);
    if (written > LIMITS.payloadBytesMax) {
      const limit = `at most ${LIMITS.payloadBytesMax} are taken`;
      const problem = `is ${written} bytes of JSON; ${limit}${this.wayOut()}`;
      throw this.refusal('payload_too_large', problem);
    }
    // Each level takes two bytes, so most payloads are too short to be too deep.
    if (written > LIMITS.payloadDepthMax * 2 && this.isTooDeep(this.length + written)) {
      throw this.refusal('invalid_request', TOO_DEEP);
    }
    this.length += written;
  }

  private jsonText(value: unknown): string {
    try {
      return JSON.stringify(value);
    } catch {
      // Parsing has no depth limit. Writing is limited by the stack, far above our limit.
      throw this.refusal('invalid_request', TOO_DEEP);
    }
  }

  /** Checks the JSON between the payloads so far and `end`; it is known to be valid. */
  private isTooDeep(end: number): boolean {
    let depth = 0;
    for (let at = this.length; at < end; at++) {
      const byte = this.bytes[at];
      if (byte === QUOTE) at = this.endOfText(at);
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
      if (depth > LIMITS.payloadDepthMax) return true;
    }
    return false;
  }

  private endOfText(start: number): number {
    let at = start + 1;
    while (this.bytes[at] !== QUOTE) at += this.bytes[at] === BACKSLASH ? 2 : 1;
    return at;
  }

  /** Large inputs and outputs can be sent as blobs. */
  private wayOut(): string {
    const [name] = /[a-z]+$/i.exec(this.pathOf(this.ends.length)) ?? [];
    const isBlob = this.takesBlobs && (name === 'input' || name === 'output');
    return isBlob ? `: upload it with PUT /v1/blobs/{sha256} and name it as ${name}Blob` : '';
  }

  private refusal(code: ErrorCode, problem: string): SluiceError {
    const path = this.pathOf(this.ends.length);
    return new SluiceError(code, `${path} ${problem}`, { details: [{ path, problem }] });
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + more, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
