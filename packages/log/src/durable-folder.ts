import { dirname } from 'node:path';
import { type Disk, hasCode } from './disk.ts';

/**
 * Creates the folder, for its owner only, with whatever lies above it. Each new folder is a name
 * in the one above, which is as durable as that one's last sync: without these a power cut could
 * take the whole log away.
 *
 * It goes level by level, because Node's recursive `mkdir` never ends where a file system answers
 * that the parent is missing although it is there, as `/proc` does.
 */
export async function ensureFolder(disk: Disk, folder: string): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !(await exists(disk, path)); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    // Two processes may start at once; which of them goes on is not decided here.
    await unless('EEXIST', disk.makeFolder(path));
    await disk.syncFolder(dirname(path));
  }
}

/** Removes a file that may be gone already. */
export async function removeIfThere(disk: Disk, path: string): Promise<void> {
  await unless('ENOENT', disk.remove(path));
}

async function exists(disk: Disk, path: string): Promise<boolean> {
  return (await unless('ENOENT', disk.stat(path))) !== undefined;
}

/** What `doing` answers; undefined when it failed for the reason that is expected. */
async function unless<T>(code: string, doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (cause) {
    if (hasCode(cause, code)) return undefined;
    throw cause;
  }
}
