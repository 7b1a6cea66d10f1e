import type { Author } from './access-commands.ts';
import type { TaskSpec } from './command.ts';
import type { Slot } from './ids.ts';
import type { TaskTypeDefinition } from './task-types.ts';
import type { Timeouts } from './timeouts.ts';

/**
 * What an operator or a client does to tasks that are there. A task is named by its id, and found
 * only in the namespace that the command speaks for.
 */
export type TaskCommand =
  | CancelTasks
  | PatchTasks
  | PauseTask
  | ResumeTask
  | RetryTasks
  | ReadmitTask
  | EndTask
  | SignalTask
  | SetQueuePaused
  | PutTaskType
  | StartRedrive
  | EndRedrive
  | DiscardDeadLetters;

interface Timed {
  readonly now: number;
  readonly namespace: string;
}

/** A change that concerns more than a task: it is recorded who made it. */
interface Authored {
  readonly by?: Author;
}

/** What became of one task of a command: done, or why not. */
export interface TaskOutcome<Rejection extends string> {
  readonly rejection?: Rejection;
  /** Where the task is; `NO_SLOT` when it is not in memory. */
  readonly slot: Slot;
}

/** A task that nobody holds ends at once; one that is held is asked to stop. */
export interface CancelTasks extends Timed {
  readonly type: 'cancel_tasks';
  readonly ids: readonly string[];
  /** How long a worker may take to stop before its lease is revoked. */
  readonly graceMs: number;
}

export interface CancelTasksReply {
  readonly outcomes: readonly TaskOutcome<'task_not_found' | 'task_finished'>[];
}

/** A JSON merge patch: what is absent stays, null clears. */
export interface TaskPatch {
  readonly id: string;
  readonly priority?: number | null;
  readonly runAt?: number | null;
  readonly timeouts?: { readonly [K in keyof Timeouts]: Timeouts[K] | null } | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
  /** Whether the input is replaced by the one at this place of `inputs`. */
  readonly hasInput?: boolean;
}

/** Each patch is applied whole or not at all, in order. */
export interface PatchTasks extends Timed {
  readonly type: 'patch_tasks';
  readonly patches: readonly TaskPatch[];
  readonly inputs: Uint8Array;
  /** One per patch, as in `SubmitTasks`. */
  readonly inputEnds: ArrayLike<number>;
}

export type PatchRejection =
  | 'task_not_found'
  | 'task_running'
  | 'task_finished'
  | 'too_many_tags'
  | 'too_many_bytes';

export interface PatchTasksReply {
  readonly outcomes: readonly TaskOutcome<PatchRejection>[];
}

export interface PauseTask extends Timed {
  readonly type: 'pause_task';
  readonly id: string;
}

export interface ResumeTask extends Timed {
  readonly type: 'resume_task';
  readonly id: string;
}

export type PauseTaskReply = TaskOutcome<'task_not_found' | 'task_running' | 'task_finished'>;

/** Tasks that ended without success run again, with all their attempts. */
export interface RetryTasks extends Timed {
  readonly type: 'retry_tasks';
  readonly ids: readonly string[];
}

export interface RetryTasksReply {
  readonly outcomes: readonly TaskOutcome<
    'task_not_found' | 'task_not_finished' | 'task_finished'
  >[];
}

/** The same for a task that left memory: it comes with all that is known of it. */
export interface ReadmitTask extends Timed {
  readonly type: 'readmit_task';
  readonly id: string;
  /** How it ended, by the number of its state. */
  readonly state: number;
  readonly spec: Omit<TaskSpec, 'runAt' | 'delayMs'>;
  readonly input: Uint8Array;
  /** What its column said of its dedupe key when it left memory. */
  readonly dedupe: number;
}

export type ReadmitTaskReply = TaskOutcome<
  'task_not_found' | 'task_finished' | 'too_many_tasks' | 'too_many_bytes' | 'too_many_types'
>;

/** Ends a task from outside: one whose handler left the end to somebody, or any other. */
export interface EndTask extends Timed {
  readonly type: 'end_task';
  readonly id: string;
  readonly outcome: 'succeeded' | 'failed';
  /** The output or the error as JSON text; empty for null. */
  readonly payload: Uint8Array;
  /**
   * The same when the request is sent again, and a whole number; 0 or absent without one. A task
   * that this very request ended is answered as at first.
   */
  readonly key?: number;
}

export type EndTaskReply = TaskOutcome<'task_not_found' | 'task_finished'>;

/** A word to the worker that holds the task. It is not kept: who is not there does not hear it. */
export interface SignalTask extends Timed {
  readonly type: 'signal_task';
  readonly id: string;
  readonly name: string;
  readonly data: Uint8Array;
  /** The same when the request is sent again. */
  readonly key?: string | undefined;
}

export type SignalTaskReply = TaskOutcome<
  'task_not_found' | 'task_not_leased' | 'worker_unreachable'
>;

/** One event, however many tasks the queue holds. */
export interface SetQueuePaused extends Timed, Authored {
  readonly type: 'set_queue_paused';
  readonly taskType: string;
  readonly paused: boolean;
}

export interface SetQueuePausedReply {
  readonly rejection?: 'too_many_types';
}

export interface PutTaskType extends Timed, Authored {
  readonly type: 'put_task_type';
  readonly taskType: string;
  /** Undefined removes it. */
  readonly definition: TaskTypeDefinition | undefined;
}

export interface PutTaskTypeReply {
  readonly rejection?: 'too_many_types';
  /** Whether there was one before. */
  readonly existed: boolean;
}

/** Runs dead letters again, so many a second, until those that are there now are through. */
export interface StartRedrive extends Timed, Authored {
  readonly type: 'start_redrive';
  /** Of this type only; of all types of the namespace without it. */
  readonly taskType?: string;
  /** Of these only, by their numbers; they run again at once, and no redrive is under way. */
  readonly tasks?: readonly number[];
  /** Fractions down to a thousandth count; what is less counts as that. */
  readonly ratePerSec: number;
}

export interface StartRedriveReply {
  readonly rejection?: 'too_many_redrives';
  /** Its number; 0 when it was refused, or is over. */
  readonly redrive: number;
  /** Dead letters that it will run again, if nobody else does. */
  readonly count: number;
}

export interface EndRedrive extends Timed, Authored {
  readonly type: 'end_redrive';
  readonly redrive: number;
}

export interface EndRedriveReply {
  readonly found: boolean;
}

/** Dead letters become plain finished tasks. */
export interface DiscardDeadLetters extends Timed, Authored {
  readonly type: 'discard_dead_letters';
  readonly taskType?: string;
  /** Of these only, by their numbers. */
  readonly tasks?: readonly number[];
}

export interface DiscardDeadLettersReply {
  readonly discarded: number;
  /** One command discards so many at the most; the same again goes on. */
  readonly more: boolean;
}

export interface TaskCommandReplies {
  readonly cancel_tasks: CancelTasksReply;
  readonly patch_tasks: PatchTasksReply;
  readonly pause_task: PauseTaskReply;
  readonly resume_task: PauseTaskReply;
  readonly retry_tasks: RetryTasksReply;
  readonly readmit_task: ReadmitTaskReply;
  readonly end_task: EndTaskReply;
  readonly signal_task: SignalTaskReply;
  readonly set_queue_paused: SetQueuePausedReply;
  readonly put_task_type: PutTaskTypeReply;
  readonly start_redrive: StartRedriveReply;
  readonly end_redrive: EndRedriveReply;
  readonly discard_dead_letters: DiscardDeadLettersReply;
}
