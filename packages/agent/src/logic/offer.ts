/** What a host has. */
export interface HostResources {
  readonly cores: number;
  readonly memoryBytes: number;
  /** Free bytes of the disk with the scratch folders. */
  readonly diskBytes: number;
}

/** What the agent leaves to the rest of the host. */
export interface Reserve {
  readonly cpu: number;
  readonly memoryMb: number;
  readonly diskMb: number;
}

export interface HostOffer {
  readonly cpu: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  /** Absent on a host without GPUs. */
  readonly gpu?: number;
}

const MIB = 2 ** 20;

/**
 * Never negative: a small host with a large reserve offers nothing of that kind. An offer is for
 * all attempts together, so what those that run have written counts as free.
 */
export function offerOf(
  host: HostResources,
  reserve: Reserve,
  { gpus, writtenBytes = 0 }: { readonly gpus: number; readonly writtenBytes?: number },
): HostOffer {
  const diskMb = Math.floor((host.diskBytes + writtenBytes) / MIB) - reserve.diskMb;
  return {
    cpu: Math.max(0, Math.round((host.cores - reserve.cpu) * 1000) / 1000),
    memoryMb: Math.max(0, Math.floor(host.memoryBytes / MIB) - reserve.memoryMb),
    diskMb: Math.max(0, diskMb),
    ...(gpus === 0 ? {} : { gpu: gpus }),
  };
}

/** A smaller change of the disk is not worth a message to the server. */
const DISK_CHANGE_MB = 256;
const DISK_CHANGE_SHARE = 0.05;

/** Whether the server should hear of a new offer. */
export function isOtherOffer(told: HostOffer, now: HostOffer): boolean {
  if (told.cpu !== now.cpu || told.memoryMb !== now.memoryMb || told.gpu !== now.gpu) return true;
  const change = Math.abs(told.diskMb - now.diskMb);
  if (change > 0 && now.diskMb === 0) return true;
  return change > Math.max(DISK_CHANGE_MB, told.diskMb * DISK_CHANGE_SHARE);
}

/** Why nothing can run on a full disk; undefined while there is room. */
export function diskProblem({ diskBytes }: HostResources, reserve: Reserve): string | undefined {
  const freeMb = Math.floor(diskBytes / MIB);
  // Half of the reserve: what runs may write a little into it.
  if (freeMb >= reserve.diskMb / 2) return undefined;
  return `the disk of the scratch folders is full: ${freeMb} MiB are free`;
}
