import type { RunModel } from './run-model.ts';

export type StepState =
  | 'running'
  | 'succeeded'
  | 'completed_with_errors'
  | 'failed'
  | 'cancelled'
  | 'skipped';

/** A step that the naive interpreter has begun. */
export interface Entered {
  state: StepState;
  input?: unknown;
  output?: unknown;
  /** Iterations that a loop has begun, and the list that it goes over. */
  iteration?: number;
  items?: readonly unknown[];
  /** References of the branches that a dynamic fork began. */
  branches?: readonly string[];
  /** Whether it waits for a script. */
  isEvaluating?: boolean;
  /** When a WAIT is over; 0 for when it is told so. */
  until?: number;
  /** The run that it waits for. */
  child?: RunModel;
}

/** Words of Conductor. */
export const STATUS: Readonly<Record<string, string>> = {
  succeeded: 'COMPLETED',
  completed_with_errors: 'COMPLETED_WITH_ERRORS',
  failed: 'FAILED',
};

/** How a step ended. */
export interface ModelEnd {
  readonly succeeded: boolean;
  readonly output: unknown;
}

export function without(values: object, others: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !(name in others)));
}

/** A place in the definition and the iterations of the loops around it. */
export interface Where {
  readonly loops: readonly string[];
  readonly iterations: readonly string[];
}

export const OUTSIDE: Where = { loops: [], iterations: [] };
