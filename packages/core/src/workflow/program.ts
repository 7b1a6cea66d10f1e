import type { TaskSpec } from '../task/task-spec.ts';
import type { Template } from './template.ts';

/** The kinds of steps, with their numbers in the log. A number never changes its meaning. */
export const STEP_KINDS = [
  'SIMPLE',
  'FORK_JOIN',
  'JOIN',
  'SWITCH',
  'SET_VARIABLE',
  'NOOP',
  'TERMINATE',
] as const;

export type StepKind = (typeof STEP_KINDS)[number];

/** One step of a compiled definition. Steps name each other by place. */
export interface StepNode {
  /** Place in its frame: the slot of a step is the start of its frame plus this. */
  readonly place: number;
  readonly kind: StepKind;
  readonly reference: string;
  /** Task type of a step with a task. */
  readonly name: string;
  readonly input: Template;
  /** Number of steps that must arrive before this one begins. */
  readonly arrivals: number;
  /** Places that this step arrives at when it ended. Cases of a SWITCH are below. */
  readonly nexts: readonly number[];
  readonly isOptional: boolean;
  readonly isPermissive: boolean;
  readonly startDelayMs: number;
  /** What the step says of its task; the definition of the type fills in the rest. */
  readonly task: TaskSpec | undefined;
  /** For SWITCH: where each value leads, and all others. */
  readonly cases: ReadonlyMap<string, readonly number[]>;
  readonly otherwise: readonly number[];
  /** For SWITCH: the input whose value decides. */
  readonly decidedBy: string;
  /** For JOIN: the steps whose outputs it shows. */
  readonly members: readonly number[];
  /** For SWITCH: last step of each case, to find the output of a run that ends with it. */
  readonly lastOfCases: ReadonlyMap<string, number>;
  readonly lastOtherwise: number;
}

/** A compiled definition. Nothing in it changes. */
export interface Program {
  readonly nodes: readonly StepNode[];
  readonly byReference: ReadonlyMap<string, number>;
  /** Arrivals of each node: part of the log, so that replay needs no compiler. */
  readonly arrivals: readonly number[];
  /** Number of steps that have a task. */
  readonly tasks: number;
  readonly output: Template | undefined;
  /** The last step of the definition: its output is the run's, unless there is a template. */
  readonly last: number;
  /** JSON texts; empty without any. */
  readonly variables: string;
  readonly inputDefaults: ReadonlyMap<string, string>;
}
