import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import type { HostResources } from '../logic/offer.ts';

/** What this process may use of the host. In a container that is less than the host has. */
export async function measureHost(folder: string): Promise<HostResources> {
  const { bavail, bsize } = await statfs(folder);
  const memory = totalmem();
  const constrained = process.constrainedMemory();
  return {
    cores: availableParallelism(),
    memoryBytes: constrained > 0 ? Math.min(memory, constrained) : memory,
    diskBytes: bavail * bsize,
  };
}
