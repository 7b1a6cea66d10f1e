import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { Network } from '../network/network.ts';
import type { Situations } from '../situations.ts';

export interface WorkerParts {
  readonly simulation: Simulation;
  readonly network: Network;
  readonly situations: Situations;
}

/** What faults can do to any worker. */
export interface SimWorker {
  readonly process: SimProcess;
  kill(isNoticed: boolean, restartAfterMs: number): void;
  /** From here on it does nothing wrong. */
  heal(): void;
}
