import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly changedAt: number;
}

/**
 * Removes the oldest of what is in folders by day, until the rest is within the bound: whole days
 * first, then those files of the newest day that nobody wrote to for longest. Answers the paths of
 * what was removed.
 */
export async function sweepDays(folder: string, bytesMax: number): Promise<string[]> {
  const days = (await list(folder)).sort().map((day) => join(folder, day));
  // One day at a time: there may be millions of files.
  const sizes: number[] = [];
  let newest: readonly Found[] = [];
  for (const day of days) {
    newest = await filesIn(day);
    sizes.push(newest.reduce((sum, { bytes }) => sum + bytes, 0));
  }
  let total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const removed: string[] = [];
  for (const [place, day] of days.slice(0, -1).entries()) {
    if (total <= bytesMax) return removed;
    await rm(day, { recursive: true, force: true });
    removed.push(day);
    total -= sizes[place];
  }
  for (const { path, bytes } of newest.toSorted((a, b) => a.changedAt - b.changedAt)) {
    if (total <= bytesMax) break;
    await rm(path, { force: true });
    removed.push(path);
    total -= bytes;
  }
  return removed;
}

/** Nothing when there is no such folder. */
export async function list(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function filesIn(folder: string): Promise<Found[]> {
  const names = await readdir(folder, { recursive: true });
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      // It may have been removed since.
      const stats = await stat(path).catch(() => undefined);
      if (stats?.isFile() !== true) return [];
      return [{ path, bytes: stats.size, changedAt: stats.mtimeMs }];
    }),
  );
  return found.flat();
}
