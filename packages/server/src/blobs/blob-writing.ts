import { createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { LIMITS, SluiceError } from '@sluice/protocol';

/** Bytes as they arrive. The body ends early, or fails, when the client disconnects. */
export type BlobBody = AsyncIterable<Uint8Array>;

/**
 * Writes a body to a new file as it arrives, and returns its length once all of it is on the disk.
 * On any error the file is removed.
 */
export async function writeBlob(path: string, body: BlobBody, sha256: string): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    const bytes = await writeAll(file, body, sha256);
    await file.sync();
    await file.close();
    return bytes;
  } catch (cause) {
    // The first error is the one that is reported.
    await file.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    throw isFull(cause) ? blobDiskFull() : cause;
  }
}

async function writeAll(file: FileHandle, body: BlobBody, sha256: string): Promise<number> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of wholeOf(body)) {
    bytes += chunk.length;
    if (bytes > LIMITS.blobBytesMax) throw blobTooLarge();
    hash.update(chunk);
    await writeChunk(file, chunk);
  }
  const actual = hash.digest('hex');
  if (actual === sha256) return bytes;
  const problem = `the ${bytes} bytes that arrived have the SHA-256 ${actual}, not ${sha256}`;
  throw new SluiceError('blob_hash_mismatch', problem);
}

async function* wholeOf(body: BlobBody): BlobBody {
  try {
    yield* body;
  } catch (cause) {
    throw new SluiceError('invalid_request', 'the body did not arrive completely', { cause });
  }
}

/** A nearly full disk accepts a part and reports success. */
async function writeChunk(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await file.write(chunk, written);
    if (bytesWritten === 0) throw new Error(`0 of ${chunk.length - written} bytes were written`);
    written += bytesWritten;
  }
}

function isFull(cause: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '');
}

export function blobDiskFull(): SluiceError {
  const message = 'the disk has no space for this blob; free some space';
  return new SluiceError('disk_full', message, { retryAfterMs: 5000 });
}

export function blobTooLarge(): SluiceError {
  const message = `a blob has at most ${LIMITS.blobBytesMax} bytes`;
  return new SluiceError('payload_too_large', message);
}
