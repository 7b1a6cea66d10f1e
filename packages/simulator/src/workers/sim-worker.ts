import type { HandlerRuns } from '../checkers/handler-runs.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { Network } from '../network/network.ts';
import type { Situations } from '../situations.ts';

export interface WorkerParts {
  readonly simulation: Simulation;
  readonly network: Network;
  readonly situations: Situations;
  readonly runs: HandlerRuns;
}

/** What faults can do to any worker. */
export interface SimWorker {
  readonly process: SimProcess;
  kill(isNoticed: boolean, restartAfterMs: number): void;
  /** As a machine does that shuts down: it may finish, and comes back later. */
  stop(restartAfterMs: number): void;
  /** It is gone for good, and makes room for workers that do nothing wrong. */
  heal(): void;
}
