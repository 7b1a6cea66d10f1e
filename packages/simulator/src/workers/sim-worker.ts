import type { Situations } from '../base/situations.ts';
import type { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { Network } from '../network/network.ts';

export interface WorkerParts {
  readonly simulation: Simulation;
  readonly network: Network;
  readonly situations: Situations;
  readonly runs: HandlerRuns;
}

/** Faults that can be applied to any worker. */
export interface SimWorker {
  readonly process: SimProcess;
  kill(isNoticed: boolean, restartAfterMs: number): void;
  /** Stops like a machine that shuts down: the worker may finish, and returns later. */
  stop(restartAfterMs: number): void;
  /** Removes the worker for good, so that flawless workers can replace it. */
  heal(): void;
}
