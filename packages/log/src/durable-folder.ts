import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes the names in a folder durable: creations, renames and removals, not the files' bytes. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates the folder, for its owner only, with whatever lies above it. Each new folder is a name
 * in the one above, which is as durable as that one's last sync: without these a power cut could
 * take the whole log away.
 *
 * It goes level by level, because Node's recursive `mkdir` never ends where a file system answers
 * that the parent is missing although it is there, as `/proc` does.
 */
export async function ensureFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let path = resolve(folder); !(await exists(path)); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    await mkdir(path, { mode: 0o700 }).catch(ignoreExisting);
    await syncFolder(dirname(path));
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

/** Two processes may start at once; which of them goes on is not decided here. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
