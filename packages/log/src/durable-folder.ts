import { mkdir, open } from 'node:fs/promises';
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
 */
export async function ensureFolder(folder: string): Promise<void> {
  const firstCreated = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstCreated === undefined) return;

  const top = dirname(resolve(firstCreated));
  let parent = resolve(folder);
  do {
    parent = dirname(parent);
    await syncFolder(parent);
  } while (parent !== top);
}
