import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space of the disk that has the folder, without what is reserved for root. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bsize, bavail, blocks } = await statfs(folder);
  return { freeBytes: bsize * bavail, totalBytes: bsize * blocks };
}
