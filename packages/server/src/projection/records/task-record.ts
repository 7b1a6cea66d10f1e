import {
  DEFERRED,
  type Event,
  FAILED,
  isHeld,
  isTerminal,
  LATER_ANSWER,
  LEASED,
  listTexts,
  namedTexts,
  nameOfAnswer,
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
  PAUSED,
  type PayloadRange,
  QUEUED,
  REASONS,
  REFUSED_ANSWER,
  RUNNING,
  SUCCEEDED,
  SUCCEEDED_ANSWER,
  type TaskText,
  TIMED_OUT,
  WAITING,
} from '@sluice/core';
import { UTF8 } from '../../base/utf8.ts';
import { type AttemptRecord, closeAttempt, noteStart, noteUsage } from './attempt-record.ts';
import { addChange, type ChangeRecord, keepInput } from './change-record.ts';
import { type DeliveryRecord, noteDelivery } from './delivery-record.ts';

/**
 * Everything that the log contains about one task: what the core has in memory, plus every attempt
 * and every change. Texts are spelled as in events.
 */
export interface TaskRecord extends Record<TaskText, string> {
  readonly number: number;
  readonly submittedAt: number;
  /** Key of its queue. */
  queue: string;
  priority: number;
  input: string;
  state: number;
  reason: number;
  attempt: number;
  /** The time that it waits for, or since when it is queued; as in the core's column. */
  dueAt: number;
  endedAt: number;
  cancelAskedAt: number;
  /** Number of the report that ended the newest attempt; 0 without one. */
  answer: number;
  /** JSON of the output, or of the error of the newest attempt that has one. */
  result: string;
  isDiscarded: boolean;
  /** The replaced input of a retry, between its two events. They are in one batch of the log. */
  inputBefore?: string | undefined;
  /** Oldest first; only the newest are kept. */
  attempts: AttemptRecord[];
  changes: ChangeRecord[];
  deliveries: DeliveryRecord[];
  /** Absent for a task that belongs to no run. */
  readonly step?: StepOfRun;
}

/** The step that a task runs. */
export type StepOfRun = readonly [run: number, runStartedAt: number, reference: string];

/** Maximum number kept for a task that is retried forever. */
const ATTEMPTS_KEPT = 100;

type DetailsName = 'task_submitted' | 'step_submitted' | 'task_readmitted';
type DetailsEvent = Extract<Event, { type: DetailsName }>;
export type Later = Exclude<Event, { type: DetailsName }>;

function reasonOf(name: (typeof REASONS)[number]): number {
  return REASONS.indexOf(name);
}

/** An event with its input as text. */
type WithText<E extends DetailsEvent> = E extends unknown
  ? Omit<E, 'input'> & { readonly input: string }
  : never;

type Details = WithText<DetailsEvent>;

export function withText<E extends DetailsEvent>(event: E): WithText<E> {
  return { ...event, input: textOf(event.input) } as unknown as WithText<E>;
}

/** The change that a submit makes. */
export function firstChange({ runAt }: { readonly runAt: number }, at: number): ChangeRecord {
  if (runAt > at) return [at, -1, WAITING, reasonOf('delayed'), 0, ''];
  return [at, -1, QUEUED, reasonOf('submitted'), 0, ''];
}

/** The record of a task that had none before. */
export function beginRecord(event: Details, at: number): TaskRecord {
  const isNew = event.type !== 'task_readmitted';
  const record: TaskRecord = {
    number: event.task,
    submittedAt: isNew ? at : event.submittedAt,
    ...detailsOf(event),
    state: -1,
    reason: 0,
    attempt: 0,
    dueAt: 0,
    endedAt: 0,
    cancelAskedAt: 0,
    answer: 0,
    result: '',
    isDiscarded: false,
    attempts: [],
    changes: [],
    deliveries: [],
  };
  if (!isNew) {
    enqueue(record, at, reasonOf('retried'));
    return record;
  }
  const change = firstChange(event, at);
  [, , record.state, record.reason] = change;
  record.changes.push(change);
  record.dueAt = Math.max(event.runAt, at);
  return record;
}

/** A task that had left memory runs again. */
export function readmitRecord(record: TaskRecord, event: Details, at: number): void {
  const { input: before } = record;
  Object.assign(record, detailsOf(event));
  runAgain(record, at, reasonOf('retried'));
  if (record.input !== before) keepInput(record.changes, before);
}

function detailsOf(event: Details) {
  const { priority, input } = event;
  return { queue: event.taskType, priority, ...namedTexts(listTexts(event)), input };
}

/** Applies one more event to the record of its task, as the core's `apply` does to the state. */
export function advanceRecord(record: TaskRecord, event: Later, at: number): void {
  switch (event.type) {
    case 'attempt_leased':
      return lease(record, event.worker, at);
    case 'attempt_started':
      noteStart(record.attempts, at);
      return move(record, at, RUNNING, reasonOf('started'));
    case 'attempt_stopping':
      if (event.reason === reasonOf('cancelled') && record.cancelAskedAt === 0) {
        record.cancelAskedAt = at;
      }
      return;
    case 'task_due':
      return enqueue(record, at, reasonOf('due'));
    case 'task_paused':
      // Its time in the queue is paused, as in the core's column.
      if (record.state === QUEUED) record.dueAt -= at;
      return move(record, at, PAUSED, reasonOf('paused'));
    case 'task_resumed':
      return resume(record, at);
    case 'task_patched':
      return patch(record, event, at);
    case 'task_retried':
      runAgain(record, at, reasonOf(event.redrive === 0 ? 'retried' : 'redriven'));
      if (record.inputBefore !== undefined) keepInput(record.changes, record.inputBefore);
      record.inputBefore = undefined;
      return;
    case 'dead_letter_dropped':
      record.isDiscarded = true;
      return;
    case 'callback_delivered':
    case 'callback_failed':
    case 'callback_redelivered':
    case 'callback_dropped':
      return noteDelivery(record, event, at);
    default:
      return endAttempt(record, event, at);
  }
}

function endAttempt(record: TaskRecord, event: Later, at: number): void {
  switch (event.type) {
    case 'attempt_succeeded':
      noteStart(record.attempts, event.startedAt);
      record.result = textOf(event.output);
      record.answer = SUCCEEDED_ANSWER;
      closeAttempt(record.attempts, at, 'succeeded');
      return end(record, at, SUCCEEDED, reasonOf('succeeded'));
    case 'attempt_used':
      return noteUsage(record.attempts, event);
    case 'attempt_deferred':
      noteStart(record.attempts, event.startedAt);
      record.answer = LATER_ANSWER;
      record.endedAt = at;
      closeAttempt(record.attempts, at, 'later');
      return move(record, at, DEFERRED, reasonOf('later'));
    case 'attempt_failed':
      return fail(record, at, event, { state: FAILED, wait: 'backoff', end: 'failed' });
    case 'attempt_timed_out': {
      const reason = REASONS[event.reason];
      return fail(record, at, event, { state: TIMED_OUT, wait: reason, end: reason });
    }
    case 'attempt_returned':
      return returned(record, at, event);
    case 'attempts_exhausted':
      closeAttempt(record.attempts, at, REASONS[event.reason]);
      return end(record, at, FAILED, event.reason);
    case 'task_ended':
      return endTask(record, at, event);
    default:
      // The other events concern no task, or change nothing that a record shows.
      return;
  }
}

function lease(record: TaskRecord, worker: string, at: number): void {
  record.attempt += 1;
  record.answer = 0;
  record.endedAt = 0;
  const { attempt } = record;
  const left = { startedAt: 0, endedAt: 0, outcome: '', error: '', output: '' };
  record.attempts.push({ attempt, worker, leasedAt: at, ...left });
  if (record.attempts.length > ATTEMPTS_KEPT) record.attempts.shift();
  move(record, at, LEASED, reasonOf('leased'));
}

type Failure = Extract<Event, { type: 'attempt_failed' | 'attempt_timed_out' }>;
type ReasonName = (typeof REASONS)[number];

function fail(
  record: TaskRecord,
  at: number,
  event: Failure,
  how: { readonly state: number; readonly wait: ReasonName; readonly end: ReasonName },
): void {
  noteStart(record.attempts, event.startedAt);
  record.result = textOf(event.error);
  if (event.type === 'attempt_failed' || event.answer !== 0) record.answer = event.answer;
  const isFailure = event.type === 'attempt_failed';
  closeAttempt(record.attempts, at, isFailure ? nameOfAnswer(event.answer) : how.end);
  const attempt = record.attempts.at(-1);
  if (attempt !== undefined && nameOfAnswer(record.answer) === 'failed') {
    attempt.error = record.result;
  }
  if (event.retryAt === 0) return end(record, at, how.state, reasonOf(how.end));
  record.endedAt = at;
  waitUntil(record, at, event.retryAt, reasonOf(how.wait));
}

type Returned = Extract<Event, { type: 'attempt_returned' }>;

/** A push that did not arrive, was refused or was handed back does not count as an attempt. */
function returned(record: TaskRecord, at: number, event: Returned): void {
  const { reason, spent, retryAt } = event;
  if (spent) closeAttempt(record.attempts, at, REASONS[reason]);
  else record.attempt -= 1;
  record.endedAt = at;
  if (reason === reasonOf('refused')) record.answer = REFUSED_ANSWER;
  if (retryAt === 0) enqueue(record, at, reason);
  else waitUntil(record, at, retryAt, reason);
  if (!spent) record.attempts.pop();
}

type Ended = Extract<Event, { type: 'task_ended' }>;

function endTask(record: TaskRecord, at: number, event: Ended): void {
  noteStart(record.attempts, event.startedAt);
  const payload = textOf(event.payload);
  if (event.hasPayload) record.result = payload;
  if (event.answer !== 0) record.answer = event.answer;
  if (isHeld(record.state)) {
    const name = nameOfAnswer(event.answer);
    closeAttempt(record.attempts, at, name || REASONS[event.reason]);
    const attempt = record.attempts.at(-1);
    if (attempt !== undefined && event.hasPayload) {
      if (name === 'failed') attempt.error = payload;
      if (name === 'succeeded' && event.state !== SUCCEEDED) attempt.output = payload;
    }
  }
  end(record, at, event.state, event.reason);
}

type Patched = Extract<Event, { type: 'task_patched' }>;

function patch(record: TaskRecord, event: Patched, at: number): void {
  const { fields, runAt } = event;
  if (fields & PATCHED_INPUT) {
    // Only a retry changes an ended task, and the retry is the next event (retry.patched-before).
    const { input, state } = record;
    record.input = textOf(event.input);
    if (isTerminal(state) && input !== record.input) record.inputBefore = input;
  }
  if (fields & PATCHED_TIMEOUTS) record.timeouts = event.timeouts;
  if (fields & PATCHED_TAGS) record.tags = event.tags;
  if (fields & PATCHED_PRIORITY) record.priority = event.priority;
  if (!(fields & PATCHED_RUN_AT)) return;
  if (record.state === PAUSED) record.dueAt = Math.max(runAt, at);
  else if (runAt > at) waitUntil(record, at, runAt, reasonOf('delayed'));
  else if (record.state !== QUEUED) enqueue(record, at, reasonOf('rescheduled'));
}

function resume(record: TaskRecord, at: number): void {
  const { dueAt } = record;
  if (dueAt > at) return waitUntil(record, at, dueAt, reasonOf('resumed'));
  move(record, at, QUEUED, reasonOf('resumed'));
  record.dueAt = dueAt <= 0 ? at + dueAt : at;
}

function runAgain(record: TaskRecord, at: number, reason: number): void {
  record.attempt = 0;
  record.answer = 0;
  record.endedAt = 0;
  record.cancelAskedAt = 0;
  record.result = '';
  record.isDiscarded = false;
  enqueue(record, at, reason);
}

function enqueue(record: TaskRecord, at: number, reason: number): void {
  move(record, at, QUEUED, reason);
  record.dueAt = at;
}

function waitUntil(record: TaskRecord, at: number, until: number, reason: number): void {
  move(record, at, WAITING, reason);
  record.dueAt = until;
}

function end(record: TaskRecord, at: number, state: number, reason: number): void {
  move(record, at, state, reason);
  record.endedAt = at;
}

function move(record: TaskRecord, at: number, to: number, reason: number): void {
  const { state: from, attempt } = record;
  const worker = isHeld(to) || isHeld(from) ? (record.attempts.at(-1)?.worker ?? '') : '';
  record.state = to;
  record.reason = reason;
  addChange(record.changes, [at, from, to, reason, attempt, worker]);
}

export function textOf({ bytes, start, end }: PayloadRange): string {
  return start === end ? '' : UTF8.decode(bytes.subarray(start, end));
}
