import { SluiceError } from '@sluice/protocol';
import type { BlobKey } from '../blobs/blob-files.ts';
import type { BlobShelf } from '../blobs/blob-store.ts';
import { writeBlob } from '../blobs/blob-writing.ts';
import type { MoveProgress } from './moved-data.ts';

/** Where blobs are read. It is not opened: that would remove unfinished uploads. */
type BlobSource = Pick<BlobShelf, 'list' | 'read'>;

type BlobTarget = Pick<BlobShelf, 'open' | 'newUnfinished' | 'finish' | 'touch'>;

/** Copies every blob, with the time of its last use. The content of each is checked. */
export async function copyBlobs(
  source: BlobSource,
  target: BlobTarget,
  progress: MoveProgress,
): Promise<void> {
  await target.open();
  for await (const blobs of source.list()) {
    for (const { usedAt, ...blob } of blobs) {
      const bytes = await copyBlob(source, target, blob);
      await target.touch(blob, usedAt);
      progress.add('blobs', { blobs: 1, bytes });
    }
  }
}

async function copyBlob(source: BlobSource, target: BlobTarget, blob: BlobKey): Promise<number> {
  const { namespace, sha256 } = blob;
  const found = await source.read({ namespace, sha256 });
  if (found === undefined) throw new Error(`blob ${sha256} of ${namespace} is gone`);
  try {
    const unfinished = target.newUnfinished();
    const bytes = await writeBlob(unfinished, found.chunks, sha256);
    await target.finish(unfinished, { namespace, sha256 });
    return bytes;
  } catch (cause) {
    const isDamaged = cause instanceof SluiceError && cause.code === 'blob_hash_mismatch';
    if (!isDamaged) throw cause;
    throw new Error(
      `blob ${sha256} of namespace ${namespace} is damaged; download it once from a running ` +
        'server, which sets it aside, then try again',
      { cause },
    );
  } finally {
    await found.close();
  }
}
