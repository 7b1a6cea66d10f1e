import { type ErrorCode, LIMITS, SluiceError } from '@sluice/protocol';

const INITIAL_BYTES = 1024 * 1024;

/**
 * Turns the payloads of one request into bytes, one behind the other, as commands want them.
 *
 * The memory is used again for the next request: a command is done with its payloads when `execute`
 * returns.
 */
export class PayloadScratch {
  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  readonly ends: number[] = [];
  private length = 0;
  private pathOf: (index: number) => string = String;

  /** Starts a request. `pathOf` names the payload of an entry in errors, as a JSON pointer. */
  begin(pathOf: (index: number) => string): void {
    this.length = 0;
    this.ends.length = 0;
    this.pathOf = pathOf;
  }

  /** Adds the JSON value of the next entry; null is no bytes at all. */
  add(value: unknown): void {
    if (value !== undefined && value !== null) this.write(this.jsonText(value));
    this.ends.push(this.length);
  }

  private write(text: string): void {
    // Three bytes of UTF-8 at the most for each UTF-16 unit.
    this.reserve(text.length * 3);
    const written = this.bytes.write(text, this.length);
    if (written > LIMITS.payloadBytesMax) {
      const problem = `is ${written} bytes of JSON; at most ${LIMITS.payloadBytesMax} are taken`;
      throw this.refusal('payload_too_large', problem);
    }
    this.length += written;
  }

  private jsonText(value: unknown): string {
    try {
      return JSON.stringify(value);
    } catch {
      // Parsing has no bound on depth, writing has one: the stack.
      throw this.refusal('invalid_request', 'is nested too deeply');
    }
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
