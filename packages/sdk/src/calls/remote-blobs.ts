import { LIMITS } from '@sluice/protocol/limits';
import type { PromisedCall } from './promised-call.ts';
import { SluiceError } from './sluice-error.ts';

/** Stores payloads that are too big for a request, as JSON text. */
export interface BlobPort {
  /** Returns the hash that names the payload. */
  put(text: string): Promise<string>;
  get(sha256: string): Promise<string>;
}

/** Maximum number of transfers at once, in both directions: each is completely in memory. */
const AT_ONCE = 4;

/** Uploads and downloads, a few at a time. */
export class RemoteBlobs implements BlobPort {
  private readonly call: PromisedCall;
  private underWay = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(call: PromisedCall) {
    this.call = call;
  }

  put(text: string): Promise<string> {
    return this.inTurn(async () => {
      const bytes = new TextEncoder().encode(text);
      if (bytes.length > LIMITS.blobBytesMax) throw blobTooLarge(bytes.length);
      const sha256 = await sha256Of(bytes);
      await this.call({ method: 'PUT', path: `/v1/blobs/${sha256}`, body: text });
      return sha256;
    });
  }

  get(sha256: string): Promise<string> {
    return this.inTurn(async () => {
      const { text } = await this.call({ method: 'GET', path: `/v1/blobs/${sha256}` });
      return text;
    });
  }

  private async inTurn<T>(act: () => Promise<T>): Promise<T> {
    if (this.underWay >= AT_ONCE) await new Promise<void>((go) => this.waiting.push(go));
    else this.underWay += 1;
    try {
      return await act();
    } finally {
      // The transfer that waited longest takes the free place.
      const next = this.waiting.shift();
      if (next === undefined) this.underWay -= 1;
      else next();
    }
  }
}

/** The JSON in a downloaded payload. */
export function payloadIn(sha256: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SluiceError(
      'output_not_json',
      `the output is a blob without JSON, ${sha256}: ${why}`,
    );
  }
}

function blobTooLarge(bytes: number): SluiceError {
  const problem = `is ${bytes} bytes of JSON; at most ${LIMITS.blobBytesMax} are allowed`;
  return new SluiceError('payload_too_large', `the payload ${problem}`, { status: 413 });
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = crypto as { subtle: typeof crypto.subtle | undefined };
  if (subtle === undefined) {
    const why = 'browsers compute hashes only on pages from https or from this machine';
    throw new SluiceError('insecure_page', `a payload of ${bytes.length} bytes needs one: ${why}`);
  }
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
