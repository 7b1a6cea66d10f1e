import { dirname } from 'node:path';
import { type Disk, hasCode } from './disk.ts';

/** Errors when syncing a folder that belongs to another user. Its owner is responsible for it. */
const NOT_OURS = ['EACCES', 'EPERM', 'EINVAL', 'EROFS'];

/**
 * Creates the folder, for its owner only, with its missing parents. Each new folder is a name in
 * its parent, which is durable only after the parent was synced: without these syncs a power cut
 * could remove the whole log. Existing folders are synced, too: the process that created them may
 * have been killed before its sync.
 *
 * It goes level by level, because Node's recursive `mkdir` never ends where a file system reports a
 * missing parent although it exists, as `/proc` does.
 */
export async function ensureFolder(disk: Disk, folder: string): Promise<void> {
  const missing: string[] = [];
  let path = folder;
  for (; !(await exists(disk, path)); path = dirname(path)) missing.push(path);
  for (; path !== dirname(path); path = dirname(path)) {
    await unless(NOT_OURS, disk.syncFolder(dirname(path)));
  }
  for (const each of missing.reverse()) {
    // Two processes may start at once; the lock decides later which of them continues.
    await unless(['EEXIST'], disk.makeFolder(each));
    await disk.syncFolder(dirname(each));
  }
}

/** Removes a file that may already be gone. */
export async function removeIfThere(disk: Disk, path: string): Promise<void> {
  await unless(['ENOENT'], disk.remove(path));
}

async function exists(disk: Disk, path: string): Promise<boolean> {
  return (await unless(['ENOENT'], disk.stat(path))) !== undefined;
}

/** Awaits `doing`; returns undefined when it failed with one of these codes. */
async function unless<T>(codes: readonly string[], doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (cause) {
    if (hasCode(cause, ...codes)) return undefined;
    throw cause;
  }
}
