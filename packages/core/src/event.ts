import { CLAIM_WORDS, type DedupeClaim } from './dedupe-table.ts';
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

/** Bytes of a JSON text inside a larger buffer; an empty range stands for null. */
export interface PayloadRange {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** A task was accepted: it stands at the tail of its level, or waits for its time. */
export interface TaskSubmitted extends TaskEvent {
  readonly type: 'task_submitted';
  taskType: string;
  priority: number;
  /** The text of its retry policy; empty for the default. */
  retry: string;
  /** When it may run; 0 for at once. */
  runAt: number;
  readonly input: PayloadRange;
  readonly dedupe: DedupeClaim;
}

/** A session has the right to run the next attempt of a task, until it is silent for `leaseMs`. */
export interface AttemptLeased extends TaskEvent {
  readonly type: 'attempt_leased';
  lease: LeaseNumber;
  session: SessionId;
  worker: string;
  leaseMs: number;
}

interface AttemptStarted extends TaskEvent {
  readonly type: 'attempt_started';
}

export interface AttemptSucceeded extends TaskEvent {
  readonly type: 'attempt_succeeded';
  readonly output: PayloadRange;
}

/** The time of a task that waited has come: it stands at the tail of its level. */
interface TaskDue extends TaskEvent {
  readonly type: 'task_due';
}

/** An attempt failed. The task waits for the next one, or failed too. */
export interface AttemptFailed extends TaskEvent {
  readonly type: 'attempt_failed';
  /** When the next attempt is due; 0 when there is none. */
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
interface AttemptsExhausted extends TaskEvent {
  readonly type: 'attempts_exhausted';
  /** As in `AttemptReturned`. */
  reason: number;
}

/** The window of a dedupe key is over. `slot` is its entry, `task` the task it stood for. */
interface DedupeForgotten extends TaskEvent {
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
  | TaskSubmitted
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

const NOTHING = new Uint8Array(0);
const NO_CLAIM = new Uint32Array(CLAIM_WORDS);

function emptyPayload(): PayloadRange {
  return { bytes: NOTHING, start: 0, end: 0 };
}

/** One object per type of event, for a writer of events to fill and emit. */
export function makeEvents() {
  const slot = 0 as Slot;
  const task = 0 as TaskNumber;
  return {
    taskSubmitted: {
      type: 'task_submitted',
      slot,
      task,
      taskType: '',
      priority: 0,
      retry: '',
      runAt: 0,
      input: emptyPayload(),
      dedupe: { words: NO_CLAIM, start: 0, windowMs: 0 },
    } as TaskSubmitted,
    taskDue: { type: 'task_due', slot, task } as TaskDue,
    attemptLeased: {
      type: 'attempt_leased',
      slot,
      task,
      lease: 0 as LeaseNumber,
      session: '' as SessionId,
      worker: '',
      leaseMs: 0,
    } as AttemptLeased,
    attemptStarted: { type: 'attempt_started', slot, task } as AttemptStarted,
    attemptSucceeded: {
      type: 'attempt_succeeded',
      slot,
      task,
      output: emptyPayload(),
    } as AttemptSucceeded,
    attemptFailed: {
      type: 'attempt_failed',
      slot,
      task,
      retryAt: 0,
      error: emptyPayload(),
    } as AttemptFailed,
    attemptReturned: {
      type: 'attempt_returned',
      slot,
      task,
      reason: 0,
      spent: false,
    } as AttemptReturned,
    attemptsExhausted: { type: 'attempts_exhausted', slot, task, reason: 0 } as AttemptsExhausted,
    dedupeForgotten: { type: 'dedupe_forgotten', slot, task } as DedupeForgotten,
    stateHashed: { type: 'state_hashed', slot, task, schema: 0, hash: 0 } as StateHashed,
    taskForgotten: { type: 'task_forgotten', slot, task } as TaskForgotten,
  };
}

export type Events = ReturnType<typeof makeEvents>;
