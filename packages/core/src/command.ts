import type { AccessCommand, AccessCommandReplies, Author } from './access-commands.ts';
import type { BackupCommand, BackupCommandReplies } from './backup-commands.ts';
import type { CallbackCommand, CallbackCommandReplies } from './callback-commands.ts';
import type { Labels } from './constraints.ts';
import type { PayloadRange } from './event.ts';
import type { SessionId, Slot, TaskNumber } from './ids.ts';
import type { Resources } from './resources.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { Offer } from './room.ts';
import type { TaskCommand, TaskCommandReplies } from './task-commands.ts';
import type { Callback, Tags } from './task-labels.ts';
import type { Timeouts } from './timeouts.ts';

/** All that the world can do to a partition. Time comes with each command (L3). */
export type Command =
  | TaskCommand
  | AccessCommand
  | BackupCommand
  | CallbackCommand
  | SubmitTasks
  | AttachSession
  | DisconnectSession
  | DetachSession
  | DrainSession
  | SessionRead
  | ReportAttempts
  | ExpireSessions
  | HearSessions
  | AdvanceTime;

/** What a client says of one task, beside its input. */
export interface TaskSpec {
  readonly type: string;
  readonly priority?: number;
  readonly resources?: Resources;
  /** Texts that `parseConstraint` takes; all of them must hold. */
  readonly constraints?: readonly string[];
  readonly retry?: RetryPolicy;
  readonly timeouts?: Timeouts;
  readonly tags?: Tags;
  readonly callback?: Callback;
  /** Id of the task that it belongs to. */
  readonly parentId?: string;
  /** Not before this time, or not before so long after the submit; one of the two. */
  readonly runAt?: number;
  readonly delayMs?: number;
}

/** Takes all of the tasks or none. */
export interface SubmitTasks {
  readonly type: 'submit_tasks';
  readonly now: number;
  readonly namespace: string;
  readonly tasks: readonly TaskSpec[];
  /**
   * The inputs as JSON text, one behind the other; an empty one is null. Read before `execute`
   * returns.
   */
  readonly inputs: Uint8Array;
  /** Where the input of each task ends. */
  readonly inputEnds: ArrayLike<number>;
  /** Present when a task has a dedupe key. */
  readonly dedupe?: DedupeClaims;
}

/** The dedupe keys of a submit, one entry per task. */
export interface DedupeClaims {
  /** Eight words per task: hashes of key and body. */
  readonly words: Uint32Array;
  /** 0 for a task without a key. */
  readonly windowsMs: ArrayLike<number>;
}

export interface SubmitTasksReply {
  readonly rejection?:
    | 'too_many_tasks'
    | 'too_many_bytes'
    | 'too_many_types'
    | 'too_many_keys'
    | 'too_many_callbacks'
    | 'dedupe_mismatch';
  /** The task whose key was used with another body. */
  readonly mismatchAt?: number;
  /** One per task, in order; `NO_SLOT` for a known task that has left memory. */
  readonly slots: readonly Slot[];
  /** Tasks that were there before, by their places; present when there are any. */
  readonly known?: ReadonlyMap<number, KnownTask>;
}

export interface KnownTask {
  readonly number: TaskNumber;
  readonly submittedAt: number;
  /** Number of its state. */
  readonly state: number;
}

/** A type that a worker handles, and how many of it at once; as many as there is room for. */
export interface OfferedType {
  readonly type: string;
  readonly concurrency?: number;
}

/** A worker opened a stream: a new session, or one that comes back. */
export interface AttachSession {
  readonly type: 'attach_session';
  readonly now: number;
  /** Random; used unless the worker comes back with one. */
  readonly newSession: SessionId;
  readonly namespace: string;
  readonly worker: string;
  readonly version: string;
  readonly types: readonly OfferedType[];
  readonly capacity: Offer;
  readonly labels: Labels;
  readonly leaseMs: number;
  readonly resume?: ResumedSession;
}

/** What a worker that comes back says of its session. */
interface ResumedSession {
  readonly session: SessionId;
  /** Every lease that it has. */
  readonly running: readonly string[];
  /** Higher at each resume of the session: what the worker has changes from one to the next. */
  readonly number?: number;
}

export interface AttachSessionReply {
  /**
   * A session that came back under another namespace than its own is not known there. A resume that
   * was overtaken by a later one says what the worker had then, not what it has.
   */
  readonly rejection?: 'too_many_sessions' | 'session_not_found' | 'resume_outdated';
  /** Empty when the session was refused. */
  readonly session: SessionId;
  readonly connection: number;
  readonly resumed: boolean;
  /** Leases that the worker listed and no longer has. */
  readonly lost: readonly string[];
}

/** The stream of a session broke. Nothing is lost by that alone. */
export interface DisconnectSession {
  readonly type: 'disconnect_session';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
}

/** Pushes of this cost, by `pushCost`, have left the server. */
export interface SessionRead {
  readonly type: 'session_read';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
  readonly bytes: number;
}

/** A worker leaves and hands back what it holds. */
export interface DetachSession {
  readonly type: 'detach_session';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
}

export interface DetachSessionReply {
  readonly found: boolean;
}

/** An operator wants a worker to get nothing new; it keeps what it runs. */
export interface DrainSession {
  readonly type: 'drain_session';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
  readonly by?: Author;
}

export interface DrainSessionReply {
  readonly found: boolean;
}

export type ReportKind =
  | 'started'
  | 'heartbeat'
  | 'progress'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'later'
  | 'refused';

export interface Report {
  readonly lease: string;
  readonly kind: ReportKind;
  /** Of a failure: false when another attempt makes no sense. */
  readonly retryable?: boolean;
  /** Of a failure: how long to wait, instead of what the policy says. */
  readonly retryAfterMs?: number;
  /** Of an end: when the attempt started, if that was not reported by itself. */
  readonly startedAt?: number;
  /** Of progress: from 0 to 1, and a word about it. */
  readonly fraction?: number;
  readonly message?: string;
}

/** What a worker says about attempts, applied in order. Any such command renews the session. */
export interface ReportAttempts {
  readonly type: 'report_attempts';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
  readonly reports: readonly Report[];
  /** Replaces the whole offer of the session. */
  readonly capacity?: Offer;
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
  /** The outputs and errors as JSON text, one behind the other, as in `SubmitTasks`. */
  readonly payloads: Uint8Array;
  readonly payloadEnds: ArrayLike<number>;
}

export type ReportOutcome = 'ok' | 'duplicate' | 'stale_lease';

export interface ReportAttemptsReply {
  /** False when neither the roster nor any lease knows the session. */
  readonly found: boolean;
  /** One per report, in order; valid until the next command. */
  readonly outcomes: readonly ReportOutcome[];
}

/** Looks for sessions that have been silent for too long. */
export interface ExpireSessions {
  readonly type: 'expire_sessions';
  readonly now: number;
}

/**
 * The server was not there to listen for a while: every session counts as heard now, and has its
 * whole `leaseMs` from here on.
 */
export interface HearSessions {
  readonly type: 'hear_sessions';
  readonly now: number;
}

/** Time has passed: fires the timers that are due. */
export interface AdvanceTime {
  readonly type: 'advance_time';
  readonly now: number;
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
}

export interface AdvanceTimeReply {
  /** More timers may be due than one command fires. */
  readonly more: boolean;
}

export interface Replies
  extends TaskCommandReplies,
    AccessCommandReplies,
    BackupCommandReplies,
    CallbackCommandReplies {
  readonly submit_tasks: SubmitTasksReply;
  readonly attach_session: AttachSessionReply;
  readonly disconnect_session: undefined;
  readonly detach_session: DetachSessionReply;
  readonly drain_session: DrainSessionReply;
  readonly session_read: undefined;
  readonly report_attempts: ReportAttemptsReply;
  readonly expire_sessions: undefined;
  readonly hear_sessions: undefined;
  readonly advance_time: AdvanceTimeReply;
}

/** Points `range` at the part of `bytes` that belongs to entry `index`. */
export function pointAt(
  range: PayloadRange,
  bytes: Uint8Array,
  ends: ArrayLike<number>,
  index: number,
): void {
  range.bytes = bytes;
  range.start = index === 0 ? 0 : ends[index - 1];
  range.end = ends[index];
}
