/** What a host has. */
export interface HostResources {
  readonly cores: number;
  readonly memoryBytes: number;
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
}

const MIB = 2 ** 20;

/** Never negative: a small host with a large reserve offers nothing of that kind. */
export function offerOf(host: HostResources, reserve: Reserve): HostOffer {
  return {
    cpu: Math.max(0, Math.round((host.cores - reserve.cpu) * 1000) / 1000),
    memoryMb: Math.max(0, Math.floor(host.memoryBytes / MIB) - reserve.memoryMb),
    diskMb: Math.max(0, Math.floor(host.diskBytes / MIB) - reserve.diskMb),
  };
}
