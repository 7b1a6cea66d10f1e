import type { AccessEvent } from './access-event.ts';
import type { CallbackEvent } from './callback-event.ts';
import type { DedupeClaim } from './dedupe-table.ts';
import type { LeaseNumber, SessionId, Slot, TaskNumber } from './ids.ts';

/**
 * The facts that a partition's log holds. Replaying them gives back the state (L1).
 *
 * An event names its task by slot and number: the slot is where `apply` writes, the number is who
 * it was, so that a log can be read without the state and replay notices when the two disagree. The
 * time of an event is the time of its record.
 *
 * `emit` is done with an event when it returns. The objects are therefore used again and again:
 * none is made per task.
 */
interface TaskEvent {
  slot: Slot;
  task: TaskNumber;
}

/**
 * Bytes of a JSON text inside a larger buffer, or of a reference to a blob that holds one
 * (`blob-reference.ts`); an empty range stands for null.
 */
export interface PayloadRange {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** What is said of a task when it comes into memory. Texts are empty for the default. */
export interface TaskDetails extends TaskEvent {
  /** Key of its queue: the type, with the namespace in front of it. */
  taskType: string;
  priority: number;
  /**
   * Resources and constraints. They stay as they are for the whole life of the task, so that a
   * lease need not repeat them: replay finds in the task what its worker gave.
   */
  shape: string;
  retry: string;
  timeouts: string;
  tags: string;
  callback: string;
  /** Id of the task that it belongs to. */
  parent: string;
  readonly input: PayloadRange;
}

/** A task was accepted: it stands at the tail of its level, or waits for its time. */
export interface TaskSubmitted extends TaskDetails {
  readonly type: 'task_submitted';
  /** When it may run; 0 for at once. */
  runAt: number;
  readonly dedupe: DedupeClaim;
}

/** A task that had ended and left memory is back, to run again; it stands at its level's tail. */
export interface TaskReadmitted extends TaskDetails {
  readonly type: 'task_readmitted';
  submittedAt: number;
  /** As in the column of tasks: the entry of its dedupe key plus one, or 0. */
  dedupe: number;
}

/** A session has the right to run the next attempt of a task, until it is silent for `leaseMs`. */
export interface AttemptLeased extends TaskEvent {
  readonly type: 'attempt_leased';
  lease: LeaseNumber;
  session: SessionId;
  worker: string;
  leaseMs: number;
  /** The number of the session's newest resume; 0 without one. */
  resume: number;
}

export interface AttemptStarted extends TaskEvent {
  readonly type: 'attempt_started';
}

export interface AttemptSucceeded extends TaskEvent {
  readonly type: 'attempt_succeeded';
  /** When the worker says it started; 0 when it said so before, or nothing. */
  startedAt: number;
  readonly output: PayloadRange;
}

/** The worker is through and the end comes from outside. Nobody holds the task. */
export interface AttemptDeferred extends TaskEvent {
  readonly type: 'attempt_deferred';
  startedAt: number;
}

/** The worker is asked to stop. If it holds the task at `stopAt` still, its lease is revoked. */
export interface AttemptStopping extends TaskEvent {
  readonly type: 'attempt_stopping';
  /** Why, as the number of a reason. */
  reason: number;
  stopAt: number;
}

/** The time of a task that waited has come: it stands at the tail of its level. */
export interface TaskDue extends TaskEvent {
  readonly type: 'task_due';
}

/** An attempt failed. The task waits for the next one, or failed too. */
export interface AttemptFailed extends TaskEvent {
  readonly type: 'attempt_failed';
  startedAt: number;
  /** The kind of report that said so, as its number. */
  answer: number;
  /** When the next attempt is due; 0 when there is none. */
  retryAt: number;
  readonly error: PayloadRange;
}

/** An attempt took too long. The task waits for the next one, or timed out too. */
export interface AttemptTimedOut extends TaskEvent {
  readonly type: 'attempt_timed_out';
  startedAt: number;
  reason: number;
  /** The kind of report that ended it in its last seconds; 0 when its lease was revoked. */
  answer: number;
  retryAt: number;
  readonly error: PayloadRange;
}

/** A lease ended without an answer. The task goes to the head of its level. */
export interface AttemptReturned extends TaskEvent {
  readonly type: 'attempt_returned';
  /** One of the reasons for a return, as its number. */
  reason: number;
  /** False when the worker never had it: that attempt does not count. */
  spent: boolean;
}

/**
 * A lease ended without an answer and it was the last attempt that the task had: the task failed.
 */
export interface AttemptsExhausted extends TaskEvent {
  readonly type: 'attempts_exhausted';
  /** As in `AttemptReturned`. */
  reason: number;
}

/** A task ended otherwise than by the word of its worker alone, from whatever state it was in. */
export interface TaskEnded extends TaskEvent {
  readonly type: 'task_ended';
  /** Of the attempt that it ends, as in `AttemptSucceeded`. */
  startedAt: number;
  /** The terminal state and the reason, as their numbers. */
  state: number;
  reason: number;
  /** The kind of the report that came with it; 0 without one. */
  answer: number;
  /** Of the request that ended it from outside, so that the same one again is known; 0 without. */
  key: number;
  /** Whether `payload` replaces the result that the task has. */
  hasPayload: boolean;
  readonly payload: PayloadRange;
}

/** Bits of `TaskPatched.fields`. */
export const PATCHED_PRIORITY = 1;
export const PATCHED_RUN_AT = 2;
export const PATCHED_INPUT = 4;
export const PATCHED_TIMEOUTS = 8;
export const PATCHED_TAGS = 16;

/** A task that nobody holds was changed. Only the fields whose bit is set mean anything. */
export interface TaskPatched extends TaskEvent {
  readonly type: 'task_patched';
  fields: number;
  priority: number;
  /** 0 for at once. */
  runAt: number;
  timeouts: string;
  tags: string;
  readonly input: PayloadRange;
}

export interface TaskPaused extends TaskEvent {
  readonly type: 'task_paused';
}

/** The task waits for its time again, or stands at the head of its level. */
export interface TaskResumed extends TaskEvent {
  readonly type: 'task_resumed';
}

/** A task that had ended runs again, with all its attempts; it stands at the tail of its level. */
export interface TaskRetried extends TaskEvent {
  readonly type: 'task_retried';
  /** The redrive that did it; 0 when somebody asked for this one. */
  redrive: number;
}

/** A dead letter is a plain finished task from here on. */
export interface DeadLetterDropped extends TaskEvent {
  readonly type: 'dead_letter_dropped';
  /** Whether there were too many, rather than somebody who discarded it. */
  isOverflow: boolean;
}

/** The events below are about no task: their slot and task are 0. */
export interface QueueChanged extends TaskEvent {
  readonly type: 'queue_changed';
  taskType: string;
  paused: boolean;
}

export interface TaskTypeChanged extends TaskEvent {
  readonly type: 'task_type_changed';
  taskType: string;
  /** The text of the definition; empty when it was removed. */
  definition: string;
}

export interface RedriveStarted extends TaskEvent {
  readonly type: 'redrive_started';
  redrive: number;
  namespace: string;
  /** Key of the only queue it is about; empty for all of the namespace. */
  taskType: string;
  /** Tasks in a thousand seconds, so that rates below one a second are whole numbers too. */
  ratePer1000Sec: number;
}

export interface RedriveEnded extends TaskEvent {
  readonly type: 'redrive_ended';
  redrive: number;
}

/** The numbers before `next` belong to leases of another life of this partition. */
export interface LeasesSkipped extends TaskEvent {
  readonly type: 'leases_skipped';
  next: LeaseNumber;
}

/** The window of a dedupe key is over. `slot` is its entry, `task` the task it stood for. */
export interface DedupeForgotten extends TaskEvent {
  readonly type: 'dedupe_forgotten';
}

/** A finished task left memory. */
export interface TaskForgotten extends TaskEvent {
  readonly type: 'task_forgotten';
}

/**
 * A hash of what the events since the last one changed. Replay compares (L3). It is about no task.
 */
export interface StateHashed extends TaskEvent {
  readonly type: 'state_hashed';
  /** The schema under which it was made; under another one it says nothing. */
  schema: number;
  hash: number;
}

export type Event =
  | AccessEvent
  | CallbackEvent
  | TaskSubmitted
  | TaskReadmitted
  | AttemptDeferred
  | AttemptStopping
  | AttemptTimedOut
  | TaskEnded
  | TaskPatched
  | TaskPaused
  | TaskResumed
  | TaskRetried
  | DeadLetterDropped
  | QueueChanged
  | TaskTypeChanged
  | RedriveStarted
  | RedriveEnded
  | LeasesSkipped
  | TaskDue
  | AttemptLeased
  | AttemptStarted
  | AttemptSucceeded
  | AttemptFailed
  | AttemptReturned
  | AttemptsExhausted
  | TaskForgotten
  | DedupeForgotten
  | StateHashed;

export type Emit = (event: Event) => void;
