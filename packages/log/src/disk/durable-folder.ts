import { dirname } from 'node:path';
import { type Disk, hasCode } from './disk.ts';

/** Why a folder of somebody else cannot be synced; then it is not for us to make it durable. */
const NOT_OURS = ['EACCES', 'EPERM', 'EINVAL', 'EROFS'];

/**
 * Creates the folder, for its owner only, with whatever lies above it. Each new folder is a name
 * in the one above, which is as durable as that one's last sync: without these a power cut could
 * take the whole log away. That holds for folders which are there, too: whoever made them may have
 * been killed before the sync.
 *
 * It goes level by level, because Node's recursive `mkdir` never ends where a file system answers
 * that the parent is missing although it is there, as `/proc` does.
 */
export async function ensureFolder(disk: Disk, folder: string): Promise<void> {
  const missing: string[] = [];
  let path = folder;
  for (; !(await exists(disk, path)); path = dirname(path)) missing.push(path);
  for (; path !== dirname(path); path = dirname(path)) {
    await unless(NOT_OURS, disk.syncFolder(dirname(path)));
  }
  for (const each of missing.reverse()) {
    // Two processes may start at once; which of them goes on is not decided here.
    await unless(['EEXIST'], disk.makeFolder(each));
    await disk.syncFolder(dirname(each));
  }
}

/** Removes a file that may be gone already. */
export async function removeIfThere(disk: Disk, path: string): Promise<void> {
  await unless(['ENOENT'], disk.remove(path));
}

async function exists(disk: Disk, path: string): Promise<boolean> {
  return (await unless(['ENOENT'], disk.stat(path))) !== undefined;
}

/** What `doing` answers; undefined when it failed for a reason that is expected. */
async function unless<T>(codes: readonly string[], doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (cause) {
    if (hasCode(cause, ...codes)) return undefined;
    throw cause;
  }
}
