import type { Template } from '../expressions/template.ts';
import type { DefinitionSchemas } from '../schema/definition-schemas.ts';
import type { TaskSpec } from '../task/task-spec.ts';
import type { RunCallback } from './run-callback.ts';

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
  'FORK_JOIN_DYNAMIC',
  'DYNAMIC',
  'SUB_WORKFLOW',
  'START_WORKFLOW',
  'HTTP',
  'CALLBACK',
  'EXCLUSIVE_JOIN',
  'JSON_JQ_TRANSFORM',
  'EVENT',
] as const;

/** Type of the tasks of HTTP steps. A worker inside the server runs them. */
export const HTTP_TASK_TYPE = 'sluice:http';

/** Tasks that an agent runs. What it runs is a part of the input. */
export const COMMAND_TASK_TYPE = 'command';
export const CONTAINER_TASK_TYPE = 'container';

/** Type of the tasks of CALLBACK steps. No worker runs them: each has a delivery. */
export const CALLBACK_TASK_TYPE = 'sluice:callback';

/**
 * In place of a task type in deliveries about runs. No task can have this type.
 */
export const RUN_DELIVERIES = '(runs)';

/** Bound on the iterations of a loop. */
export const ITERATIONS_MAX = 10_000;

/** Bound on the steps of a run that are in memory. */
export const STEPS_PER_RUN_MAX = 50_000;

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
  /** An EVENT goes on running after it was published, until a call ends it. */
  readonly isAsync: boolean;
  readonly startDelayMs: number;
  /** What the step says of its task; the definition of the type fills in the rest. */
  readonly task: TaskSpec | undefined;
  /** For SWITCH: where each value leads, and all others. */
  readonly cases: ReadonlyMap<string, readonly number[]>;
  readonly otherwise: readonly number[];
  /** For SWITCH: the input whose value decides. */
  readonly decidedBy: string;
  /** For JOIN: the steps whose outputs it shows; for EXCLUSIVE_JOIN: those that it takes one of. */
  readonly members: readonly number[];
  /** For SWITCH: last step of each case, to find the output of a run that ends with it. */
  readonly lastOfCases: ReadonlyMap<string, number>;
  readonly lastOtherwise: number;
  /** Script of an INLINE, of a SWITCH or of the condition of a loop, or the query of a jq step. */
  readonly script: string;
  /** For DO_WHILE. */
  readonly loop: LoopNode | undefined;
  /** For FORK_JOIN_DYNAMIC. */
  readonly fork: ForkNode | undefined;
  /** For the JOIN of a FORK_JOIN_DYNAMIC: the place of the fork; -1 for others. */
  readonly joinsFork: number;
  /** For DYNAMIC: the input that is the task type. */
  readonly namedBy: string;
  /** For SUB_WORKFLOW. */
  readonly child: ChildNode | undefined;
  /** For CALLBACK. */
  readonly callback: CallbackNode | undefined;
  /** For EVENT: where it goes. */
  readonly sink: Template | undefined;
}

/** Where a CALLBACK is delivered. */
export interface CallbackNode {
  /** Gives the url and, if stated, the secret. */
  readonly to: Template;
  /** Whether the step ends with the delivery, and not before it. */
  readonly waits: boolean;
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

/** Bound on the branches of a dynamic fork. */
export const BRANCHES_MAX = 10_000;

/** Where a dynamic fork has its branches from. */
export type ForkNode = ForkOverItems | ForkOverTasks;

/** A branch for each item, all of one type or workflow. */
export interface ForkOverItems {
  readonly form: 'items';
  /** Scope of the branches. */
  readonly scope: number;
  readonly items: Template;
  /** The task type, or the name of a workflow. */
  readonly name: Template;
  /** The version of the workflow, null for the newest; undefined for tasks. */
  readonly version: Template | undefined;
  /** Whether it is the only dynamic fork: then the references of branches need not name it. */
  readonly isOnly: boolean;
}

/** A list of branches that each say what they are. */
export interface ForkOverTasks {
  readonly form: 'tasks';
  readonly scope: number;
  /** The list, or an object with the list in `dynamicTasks`. */
  readonly tasks: Template;
  /** The inputs by reference; undefined when each branch has its input. */
  readonly inputs: Template | undefined;
  /** The name of each in the definition, for messages. */
  readonly tasksParam: string;
  readonly inputsParam: string;
}

/**
 * The steps of a definition, of the body of a loop, or the branch of a dynamic fork. A frame has a
 * slot for each of them, that of a dynamic fork one for each branch.
 */
export interface Scope {
  /** Place of its first step. The slot of a step is the start of its frame plus its distance. */
  readonly first: number;
  /** Place of the loop that it is the body of, or of the dynamic fork. */
  readonly loop: number;
  readonly isFork: boolean;
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
  readonly schemas: DefinitionSchemas;
  /** How long a run may take; 0 without a bound. */
  readonly timeoutMs: number;
  /** Whether a run that takes longer goes on, and only says so. */
  readonly alertsOnly: boolean;
  /** Gives name and version of the workflow that runs after a failure; undefined without one. */
  readonly failure: Template | undefined;
  /** Callback for ended runs; undefined without one. */
  readonly callback: RunCallback | undefined;
}
