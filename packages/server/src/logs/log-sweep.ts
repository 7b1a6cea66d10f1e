import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly changedAt: number;
}

interface SweepBounds {
  /** Days whose files were all last written before this time are removed. */
  readonly oldest: number;
  readonly bytesMax: number;
}

/**
 * Removes days that are too old. Then it removes the oldest until the rest is within the limit:
 * whole days first, then the least recently written files of the newest day. Returns the removed
 * paths.
 */
export async function sweepDays(folder: string, bounds: SweepBounds): Promise<string[]> {
  const { oldest, bytesMax } = bounds;
  const days: string[] = [];
  // One day at a time, because there may be millions of files.
  const sizes: number[] = [];
  const removed: string[] = [];
  let newest: readonly Found[] = [];
  for (const name of (await list(folder)).sort()) {
    const day = join(folder, name);
    const files = await filesIn(day);
    // An empty day was just created.
    if (files.length > 0 && files.every(({ changedAt }) => changedAt < oldest)) {
      await rm(day, { recursive: true, force: true });
      removed.push(day);
      continue;
    }
    newest = files;
    days.push(day);
    sizes.push(files.reduce((sum, { bytes }) => sum + bytes, 0));
  }
  let total = sizes.reduce((sum, bytes) => sum + bytes, 0);
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

/** Empty when there is no such folder. */
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
