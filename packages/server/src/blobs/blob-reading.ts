import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** The file's content is not what was written. */
class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}

/**
 * The bytes of a file. The last chunk is withheld until the hash of all bytes is verified, so a
 * reader never gets all of a damaged file.
 */
export async function* readBlob(
  file: FileHandle,
  sha256: string,
  onDamaged: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let last: Uint8Array | undefined;
  for (;;) {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    if (last !== undefined) yield last;
    last = chunk;
  }
  if (hash.digest('hex') !== sha256) {
    await onDamaged();
    throw new BlobDamagedError(`the file of blob ${sha256} was damaged on the disk`);
  }
  if (last !== undefined) yield last;
}
