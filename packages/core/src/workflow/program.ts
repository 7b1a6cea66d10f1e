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
  'WAIT',
  'HUMAN',
  'INLINE',
  'DO_WHILE',
  'SUB_WORKFLOW',
  'START_WORKFLOW',
  'HTTP',
] as const;

/** Type of the tasks of HTTP steps. A worker inside the server runs them. */
export const HTTP_TASK_TYPE = 'sluice:http';

/** Bound on the iterations of a loop. */
export const ITERATIONS_MAX = 10_000;

export type StepKind = (typeof STEP_KINDS)[number];

/** One step of a compiled definition. Steps name each other by place. */
export interface StepNode {
  /** Place among all steps. */
  readonly place: number;
  /** Number of its scope. */
  readonly scope: number;
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
  /** Source of the script of an INLINE, of a SWITCH or of the condition of a loop. */
  readonly script: string;
  /** For DO_WHILE. */
  readonly loop: LoopNode | undefined;
  /** For SUB_WORKFLOW. */
  readonly child: ChildNode | undefined;
}

/** The workflow that a SUB_WORKFLOW runs. */
export interface ChildNode {
  /** Gives its name and, if stated, its version. */
  readonly which: Template;
  /** Its definition as JSON text, if it stands in this definition; otherwise empty. */
  readonly definition: string;
}

export interface LoopNode {
  /** Scope of its body. */
  readonly scope: number;
  /** The list that it goes over; undefined without one. */
  readonly items: Template | undefined;
  /** Number of iterations that stay in memory; 0 for all. */
  readonly keepLastN: number;
}

/** The steps of a definition, or of the body of a loop: a frame has a slot for each of them. */
export interface Scope {
  /** Place of its first step. The slot of a step is the start of its frame plus its distance. */
  readonly first: number;
  /** Place of the loop that it is the body of. */
  readonly loop: number;
  /** Arrivals that each step waits for. */
  readonly arrivals: readonly number[];
  /** Number of steps that have a task. */
  readonly tasks: number;
}

/** A compiled definition. Nothing in it changes. */
export interface Program {
  readonly nodes: readonly StepNode[];
  readonly byReference: ReadonlyMap<string, number>;
  /** The first one is the definition itself. */
  readonly scopes: readonly Scope[];
  readonly output: Template | undefined;
  /** The last step of the definition: its output is the run's, unless there is a template. */
  readonly last: number;
  /** JSON texts; empty without any. */
  readonly variables: string;
  readonly inputDefaults: ReadonlyMap<string, string>;
  /** How long a run may take; 0 without a bound. */
  readonly timeoutMs: number;
  /** Gives name and version of the workflow that runs after a failure; undefined without one. */
  readonly failure: Template | undefined;
}
