import type { WorkerNotice } from '@sluice/sdk';
import type { ContainerSettings } from './containers/container-service.ts';
import { defaultSocket } from './host/engine-places.ts';
import type { Reserve } from './logic/offer.ts';

/** What containers may do; without a value, nothing beyond the usual. */
export interface ContainerOptions {
  /** Socket of the engine. Default: that of DOCKER_HOST, Docker or Podman, whichever is there. */
  readonly socket?: string;
  readonly allowPrivileged?: boolean;
  readonly allowHostNetwork?: boolean;
  /** Folders of the host that may be mounted, with everything below them. */
  readonly mounts?: readonly string[];
  readonly devices?: readonly string[];
  /** Network of containers that state none. */
  readonly network?: string;
  /** Images that the agent pulled and nobody used for this long are removed. */
  readonly imageAgeMsMax?: number;
}

export interface AgentOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly name?: string;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly reserve?: Partial<Reserve>;
  /** How many commands and containers may run at once, beside what their resources allow. */
  readonly slots?: number;
  /** After a silence of this length the server gives its tasks to other agents. Default 15 s. */
  readonly leaseMs?: number;
  readonly workFolder?: string;
  /** Whether commands are run. Default true. */
  readonly commands?: boolean;
  /** Programs that may run; all of them when absent. */
  readonly programs?: readonly string[];
  readonly user?: string;
  readonly allowRoot?: boolean;
  /** Processes that one attempt may have at once. */
  readonly pidsMax?: number;
  /** Containers are run when this is given. */
  readonly containers?: ContainerOptions;
  /** Indexes of the GPUs to offer. Default: those that nvidia-smi lists. */
  readonly gpus?: readonly string[];
  /** How many tasks may use one GPU at once. Default 1. */
  readonly gpuShares?: number;
  readonly handleSignals?: boolean;
  readonly onNotice?: (notice: WorkerNotice) => void;
}

export const RESERVE: Reserve = { cpu: 0, memoryMb: 256, diskMb: 1024 };
export const SLOTS_DEFAULT = 100;
export const PIDS_MAX_DEFAULT = 4096;
export const DISK_MB_DEFAULT = 10_240;
const IMAGE_AGE_MS_MAX = 7 * 24 * 3600 * 1000;

export function containerSettings(options: ContainerOptions): ContainerSettings {
  return {
    socket: options.socket ?? defaultSocket(),
    allowPrivileged: options.allowPrivileged ?? false,
    allowHostNetwork: options.allowHostNetwork ?? false,
    mounts: options.mounts ?? [],
    devices: options.devices ?? [],
    network: options.network ?? 'bridge',
    imageAgeMsMax: options.imageAgeMsMax ?? IMAGE_AGE_MS_MAX,
  };
}
