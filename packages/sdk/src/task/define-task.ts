import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import type { CommandExec, ContainerExec } from './exec-types.ts';
import type { Later } from './failures.ts';
import type { TaskContext } from './task-context.ts';
import type { SubmitOptions, TaskDefaults } from './task-options.ts';

/** A task type: what its tasks need, and how to run one. */
export interface TaskDefinition<Input, Output> extends TaskDefaults {
  /** Letters, digits and `. _ : -`, at most 128. */
  readonly type: string;
  /** How many tasks of this type a worker runs at once; without it, as many as fit. */
  readonly concurrency?: number;
  /** The handler. A program that only submits may leave it out. */
  run?(input: Input, context: TaskContext): Output | Later | Promise<Output | Later>;
}

/** A definition with any input and output. */
export type AnyTask = TaskDefinition<never, unknown>;

const FIELDS: FieldsOf<AnyTask> = {
  type: true,
  concurrency: true,
  run: true,
  priority: true,
  resources: true,
  constraints: true,
  placement: true,
  retry: true,
  timeouts: true,
  tags: true,
  callback: true,
};

const TYPE = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Defines a task type. Its input and output types flow into `submit` and `result`. Its options are
 * sent with each submit; only `Sluice.register` stores them on the server.
 */
export function defineTask<Input = unknown, Output = unknown>(
  definition: TaskDefinition<Input, Output>,
): TaskDefinition<Input, Output> {
  refuseUnknownFields(definition, FIELDS, 'the options of defineTask');
  if (!TYPE.test(definition.type)) {
    throw new TypeError(
      `'${definition.type}' is not a valid task type: use 1 to 128 letters A to Z or a to z, ` +
        'digits and . _ : - without spaces, such as send-mail',
    );
  }
  return definition;
}

/** The body of a submit: its options override those of the definition. */
export interface TaskBody extends TaskDefaults, Omit<SubmitOptions, 'runAt'> {
  readonly type: string;
  readonly input?: unknown;
  /** Replaces an input that is too big for a request. */
  readonly inputBlob?: string;
  /** Replaces the type: what an agent runs. */
  readonly exec?: CommandExec | ContainerExec;
  readonly runAt?: string | number;
}

export function taskBody(
  task: string | AnyTask,
  input: unknown,
  { runAt, ...options }: SubmitOptions,
): TaskBody {
  const time = runAt instanceof Date ? runAt.toISOString() : runAt;
  return {
    ...(typeof task === 'string' ? { type: task } : { type: task.type, ...defaultsOf(task) }),
    input,
    ...options,
    ...(time === undefined ? {} : { runAt: time }),
  };
}

/** The options of a definition that the server accepts. */
export function defaultsOf(definition: AnyTask): TaskDefaults {
  const { type: _, concurrency: __, run: ___, ...defaults } = definition;
  return defaults;
}
