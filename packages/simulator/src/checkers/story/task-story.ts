import {
  type Event,
  type LeaseNumber,
  leaseTokenText,
  REASONS,
  type Slot,
  TASK_STATES,
  taskIdText,
} from '@sluice/core';
import { UTF8 } from '../../base/utf8.ts';

type Phase =
  | 'waiting'
  | 'queued'
  | 'leased'
  | 'running'
  | 'deferred'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'expired'
  | 'cancelled';

/**
 * What the log tells about one task, event by event. It is a second implementation in plain values
 * that never looks at the core's state, so that the two can disagree.
 */
export interface TaskStory {
  readonly number: number;
  readonly id: string;
  readonly submittedAt: number;
  /** Key of its queue. */
  queue: string;
  slot: number;
  priority: number;
  /** In the spelling of the events. */
  shape: string;
  retry: string;
  timeouts: string;
  tags: string;
  input: string;
  phase: Phase;
  /** Order within a lane while the task is queued: the lowest goes first. */
  place: number;
  /** Number of attempts that count since the last retry. */
  attempt: number;
  /** The newest lease and its session; 0 before the first lease. */
  lease: number;
  session: string;
  leasedAt: number;
  /** The report that ended the newest lease; 0 if no report did. */
  answer: number;
  /** The time until which it waits. */
  dueAt: number;
  /** Since when it is queued; pauses do not count. */
  queuedSince: number;
  /** While paused: how long it had been queued; -1 if it had not been queued. */
  queuedMs: number;
  /** When it was last retried; 0 if never. */
  retriedAt: number;
  endedAt: number;
  /** Why its worker has to stop; empty if it does not have to. */
  stop: string;
  stopAt: number;
  isCancelAsked: boolean;
  /** Output or error of the newest attempt that left one. */
  result: string;
  isDiscarded: boolean;
  /** The task ended and left memory. */
  isForgotten: boolean;
  /** Number of retries. */
  retries: number;
  /** The run and the reference of its step; 0 and empty for a task that is no step's. */
  readonly run: number;
  readonly reference: string;
  /** Its run left memory: nobody finds it any more. */
  hasLeftRun: boolean;
}

interface Range {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export function textOf({ bytes, start, end }: Range): string {
  return UTF8.decode(bytes.subarray(start, end));
}

const ENDED: readonly string[] = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];

export function hasEnded({ phase }: TaskStory): boolean {
  return ENDED.includes(phase);
}

export function isHeld({ phase }: TaskStory): boolean {
  return phase === 'leased' || phase === 'running';
}

/** The task failed or timed out, and was not discarded. A run keeps the tasks of its steps. */
export function isDeadLetter({ phase, isDiscarded, run }: TaskStory): boolean {
  return run === 0 && (phase === 'failed' || phase === 'timed_out') && !isDiscarded;
}

export function namespaceOf({ queue }: Pick<TaskStory, 'queue'>): string {
  const slash = queue.indexOf('/');
  return slash < 0 ? 'default' : queue.slice(0, slash);
}

/** The token by which a worker knows its newest lease. */
export function leaseText({ slot, lease }: Pick<TaskStory, 'slot' | 'lease'>): string {
  return leaseTokenText({ partition: 0, slot: slot as Slot, number: lease as LeaseNumber });
}

type Details = Extract<Event, { type: (typeof FIRST)[number] }>;

/** Events that begin a life of a task. */
const FIRST = ['task_submitted', 'task_readmitted', 'step_submitted'] as const;

/** Starts the story of a task that is new to the log. */
export function beginStory(event: Details, at: number): TaskStory {
  const submittedAt = event.type === 'task_readmitted' ? event.submittedAt : at;
  const isStep = event.type === 'step_submitted';
  const story: TaskStory = {
    number: event.task,
    id: taskIdText({ submittedAt, partition: 0, number: event.task }),
    submittedAt,
    ...detailsOf(event),
    phase: 'queued',
    place: 0,
    attempt: 0,
    lease: 0,
    session: '',
    leasedAt: 0,
    answer: 0,
    dueAt: 0,
    queuedSince: at,
    queuedMs: -1,
    retriedAt: 0,
    endedAt: 0,
    stop: '',
    stopAt: 0,
    isCancelAsked: false,
    result: '',
    isDiscarded: false,
    isForgotten: false,
    retries: 0,
    run: isStep ? event.run : 0,
    reference: isStep ? event.reference : '',
    hasLeftRun: false,
  };
  if (event.type !== 'task_readmitted' && event.runAt > at) waitUntil(story, event.runAt);
  return story;
}

/** A task that had left memory runs again. */
export function readmit(task: TaskStory, event: Details, at: number): void {
  Object.assign(task, detailsOf(event), { lease: 0, session: '', isForgotten: false });
  runAgain(task, at);
}

function detailsOf(event: Details) {
  const { slot, priority, shape, retry, timeouts, tags } = event;
  const input = textOf(event.input);
  return { queue: event.taskType, slot, priority, shape, retry, timeouts, tags, input };
}

type Later = Exclude<Event, { type: (typeof FIRST)[number] }>;

export function isFirst(event: Event): event is Details {
  return (FIRST as readonly string[]).includes(event.type);
}

/** Applies one more event to the story of its task. */
export function advance(task: TaskStory, event: Later, at: number): void {
  switch (event.type) {
    case 'attempt_leased':
      return lease(task, event, at);
    case 'attempt_started':
      task.phase = 'running';
      return;
    case 'attempt_stopping':
      task.stop = REASONS[event.reason];
      task.stopAt = event.stopAt;
      if (task.stop === 'cancelled') task.isCancelAsked = true;
      return;
    case 'task_due':
      return enqueue(task, at);
    case 'task_paused':
      task.queuedMs = task.phase === 'queued' ? at - task.queuedSince : -1;
      task.phase = 'paused';
      return;
    case 'task_resumed':
      return resume(task, at);
    case 'task_patched':
      return patch(task, event, at);
    case 'task_retried':
      return runAgain(task, at);
    case 'dead_letter_dropped':
      task.isDiscarded = true;
      return;
    case 'task_forgotten':
      task.isForgotten = true;
      return;
    default:
      return endAttempt(task, event, at);
  }
}

function endAttempt(task: TaskStory, event: Later, at: number): void {
  switch (event.type) {
    case 'attempt_succeeded':
      task.result = textOf(event.output);
      task.answer = 1;
      return end(task, 'succeeded', at);
    case 'attempt_deferred':
      task.answer = 4;
      task.stop = '';
      task.phase = 'deferred';
      return;
    case 'attempt_failed':
      task.answer = event.answer;
      task.result = textOf(event.error);
      return event.retryAt === 0 ? end(task, 'failed', at) : waitUntil(task, event.retryAt);
    case 'attempt_timed_out':
      if (event.answer !== 0) task.answer = event.answer;
      task.result = textOf(event.error);
      return event.retryAt === 0 ? end(task, 'timed_out', at) : waitUntil(task, event.retryAt);
    case 'attempt_returned':
      if (!event.spent) task.attempt -= 1;
      if (REASONS[event.reason] === 'refused') task.answer = 5;
      return event.retryAt === 0 ? enqueue(task, at) : waitUntil(task, event.retryAt);
    case 'attempts_exhausted':
      return end(task, 'failed', at);
    case 'task_ended':
      if (event.answer !== 0) task.answer = event.answer;
      if (event.hasPayload) task.result = textOf(event.payload);
      return end(task, TASK_STATES[event.state] as Phase, at);
    default:
      return;
  }
}

function lease(
  task: TaskStory,
  event: Extract<Event, { type: 'attempt_leased' }>,
  at: number,
): void {
  task.phase = 'leased';
  task.attempt += 1;
  task.lease = event.lease;
  task.session = event.session;
  task.leasedAt = at;
  task.answer = 0;
}

function enqueue(task: TaskStory, at: number): void {
  task.phase = 'queued';
  task.queuedSince = at;
  task.stop = '';
}

function waitUntil(task: TaskStory, dueAt: number): void {
  task.phase = 'waiting';
  task.dueAt = dueAt;
  task.stop = '';
}

function end(task: TaskStory, phase: Phase, at: number): void {
  task.phase = phase;
  task.endedAt = at;
  task.stop = '';
}

function resume(task: TaskStory, at: number): void {
  if (task.queuedMs < 0 && task.dueAt > at) return waitUntil(task, task.dueAt);
  enqueue(task, task.queuedMs < 0 ? at : at - task.queuedMs);
}

function runAgain(task: TaskStory, at: number): void {
  task.attempt = 0;
  task.retriedAt = at;
  task.retries += 1;
  task.isCancelAsked = false;
  task.isDiscarded = false;
  task.result = '';
  enqueue(task, at);
}

/** The bits in events for the fields that a patch names. */
export const PATCHED = { priority: 1, runAt: 2, input: 4, timeouts: 8, tags: 16 };

function patch(task: TaskStory, event: Extract<Event, { type: 'task_patched' }>, at: number): void {
  const { fields } = event;
  if (fields & PATCHED.priority) task.priority = event.priority;
  if (fields & PATCHED.input) task.input = textOf(event.input);
  if (fields & PATCHED.timeouts) task.timeouts = event.timeouts;
  if (fields & PATCHED.tags) task.tags = event.tags;
  if ((fields & PATCHED.runAt) === 0) return;
  if (task.phase === 'paused') {
    task.queuedMs = -1;
    task.dueAt = event.runAt;
  } else if (event.runAt > at) waitUntil(task, event.runAt);
  else if (task.phase !== 'queued') enqueue(task, at);
}
