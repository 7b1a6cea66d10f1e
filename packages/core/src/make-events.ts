import { makeAccessEvents } from './access-event.ts';
import { makeCallbackEvents } from './callback-event.ts';
import { CLAIM_WORDS } from './dedupe-table.ts';
import type {
  AttemptDeferred,
  AttemptFailed,
  AttemptLeased,
  AttemptReturned,
  AttemptStarted,
  AttemptStopping,
  AttemptSucceeded,
  AttemptsExhausted,
  AttemptTimedOut,
  DeadLetterDropped,
  DedupeForgotten,
  LeasesSkipped,
  PayloadRange,
  QueueChanged,
  RedriveEnded,
  RedriveStarted,
  StateHashed,
  TaskDue,
  TaskEnded,
  TaskForgotten,
  TaskPatched,
  TaskPaused,
  TaskReadmitted,
  TaskResumed,
  TaskRetried,
  TaskSubmitted,
  TaskTypeChanged,
} from './event.ts';
import type { LeaseNumber, SessionId, Slot, TaskNumber } from './ids.ts';

const NOTHING = new Uint8Array(0);
const NO_CLAIM = new Uint32Array(CLAIM_WORDS);
const NO_TASK = { slot: 0 as Slot, task: 0 as TaskNumber };

function emptyPayload(): PayloadRange {
  return { bytes: NOTHING, start: 0, end: 0 };
}

function emptyDetails() {
  return {
    ...NO_TASK,
    taskType: '',
    priority: 0,
    shape: '',
    retry: '',
    timeouts: '',
    tags: '',
    callback: '',
    parent: '',
    input: emptyPayload(),
  };
}

/** One object per type of event, for a writer of events to fill and emit. */
export function makeEvents() {
  return {
    ...makeTaskEvents(),
    ...makeAttemptEvents(),
    ...makeOtherEvents(),
    ...makeAccessEvents(),
    ...makeCallbackEvents(),
  };
}

function makeTaskEvents() {
  return {
    taskSubmitted: {
      type: 'task_submitted',
      ...emptyDetails(),
      runAt: 0,
      dedupe: { words: NO_CLAIM, start: 0, windowMs: 0 },
    } as TaskSubmitted,
    taskReadmitted: {
      type: 'task_readmitted',
      ...emptyDetails(),
      submittedAt: 0,
      dedupe: 0,
    } as TaskReadmitted,
    taskDue: { type: 'task_due', ...NO_TASK } as TaskDue,
    taskEnded: {
      type: 'task_ended',
      ...NO_TASK,
      startedAt: 0,
      state: 0,
      reason: 0,
      answer: 0,
      key: 0,
      hasPayload: false,
      payload: emptyPayload(),
    } as TaskEnded,
    taskPatched: {
      type: 'task_patched',
      ...NO_TASK,
      fields: 0,
      priority: 0,
      runAt: 0,
      timeouts: '',
      tags: '',
      input: emptyPayload(),
    } as TaskPatched,
    taskPaused: { type: 'task_paused', ...NO_TASK } as TaskPaused,
    taskResumed: { type: 'task_resumed', ...NO_TASK } as TaskResumed,
    taskRetried: { type: 'task_retried', ...NO_TASK, redrive: 0 } as TaskRetried,
    taskForgotten: { type: 'task_forgotten', ...NO_TASK } as TaskForgotten,
  };
}

function makeAttemptEvents() {
  return {
    attemptLeased: {
      type: 'attempt_leased',
      ...NO_TASK,
      lease: 0 as LeaseNumber,
      session: '' as SessionId,
      worker: '',
      leaseMs: 0,
      resume: 0,
    } as AttemptLeased,
    attemptStarted: { type: 'attempt_started', ...NO_TASK } as AttemptStarted,
    attemptSucceeded: {
      type: 'attempt_succeeded',
      ...NO_TASK,
      startedAt: 0,
      output: emptyPayload(),
    } as AttemptSucceeded,
    attemptDeferred: { type: 'attempt_deferred', ...NO_TASK, startedAt: 0 } as AttemptDeferred,
    attemptFailed: {
      type: 'attempt_failed',
      ...NO_TASK,
      startedAt: 0,
      answer: 0,
      retryAt: 0,
      error: emptyPayload(),
    } as AttemptFailed,
    attemptStopping: {
      type: 'attempt_stopping',
      ...NO_TASK,
      reason: 0,
      stopAt: 0,
    } as AttemptStopping,
    attemptTimedOut: {
      type: 'attempt_timed_out',
      ...NO_TASK,
      startedAt: 0,
      reason: 0,
      answer: 0,
      retryAt: 0,
      error: emptyPayload(),
    } as AttemptTimedOut,
    attemptReturned: {
      type: 'attempt_returned',
      ...NO_TASK,
      reason: 0,
      spent: false,
    } as AttemptReturned,
    attemptsExhausted: { type: 'attempts_exhausted', ...NO_TASK, reason: 0 } as AttemptsExhausted,
  };
}

function makeOtherEvents() {
  return {
    deadLetterDropped: {
      type: 'dead_letter_dropped',
      ...NO_TASK,
      isOverflow: false,
    } as DeadLetterDropped,
    dedupeForgotten: { type: 'dedupe_forgotten', ...NO_TASK } as DedupeForgotten,
    queueChanged: {
      type: 'queue_changed',
      ...NO_TASK,
      taskType: '',
      paused: false,
    } as QueueChanged,
    taskTypeChanged: {
      type: 'task_type_changed',
      ...NO_TASK,
      taskType: '',
      definition: '',
    } as TaskTypeChanged,
    redriveStarted: {
      type: 'redrive_started',
      ...NO_TASK,
      redrive: 0,
      namespace: '',
      taskType: '',
      ratePer1000Sec: 0,
    } as RedriveStarted,
    stateHashed: { type: 'state_hashed', ...NO_TASK, schema: 0, hash: 0 } as StateHashed,
    redriveEnded: { type: 'redrive_ended', ...NO_TASK, redrive: 0 } as RedriveEnded,
    leasesSkipped: {
      type: 'leases_skipped',
      ...NO_TASK,
      next: 0 as LeaseNumber,
    } as LeasesSkipped,
  };
}

export type Events = ReturnType<typeof makeEvents>;
