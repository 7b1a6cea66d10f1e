import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** A blob that can be read, from its beginning to its end or as far as the reader wants. */
export interface ShelvedBlob {
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Releases what the reading needs, whether or not it was read. */
  close(): Promise<void>;
}

/** The chunks of an open file. */
export async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The content is not what was written. */
class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}

/**
 * The bytes of a blob. The last chunk is withheld until the hash of all bytes is verified, so a
 * reader never gets all of a damaged blob.
 */
export async function* readBlob(
  chunks: AsyncIterable<Uint8Array>,
  sha256: string,
  onDamaged: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let last: Uint8Array | undefined;
  for await (const chunk of chunks) {
    hash.update(chunk);
    if (last !== undefined) yield last;
    last = chunk;
  }
  if (hash.digest('hex') !== sha256) {
    await onDamaged();
    throw new BlobDamagedError(`the content of blob ${sha256} was damaged where it is stored`);
  }
  if (last !== undefined) yield last;
}
