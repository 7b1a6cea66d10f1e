import { expect, test } from 'vitest';
import { InvariantError } from '../base/invariant.ts';
import { EventDecoder, encodeEvent } from '../events/event-codec.ts';
import type { Event } from '../events/events.ts';
import { makeEvents } from '../events/make-events.ts';
import { RecordReader } from '../events/record-reader.ts';
import { RecordWriter } from '../events/record-writer.ts';
import { State } from '../state/state.ts';
import { REASONS, TASK_STATES } from '../task/task-state.ts';
import { describeState } from '../testing/describe-state.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { apply } from './apply.ts';

const LIMITS = {
  tasksMax: 8,
  finishedTasksMax: 2,
  deadLettersMax: 2,
  callbacksMax: 2,
  sessionsMax: 100,
  dedupeKeysMax: 100,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
  arenaChunkBytes: 64,
};
const WORKER_LOST = REASONS.indexOf('worker_lost');
const RUN_TIMEOUT = REASONS.indexOf('run_timeout');
const FAILED = TASK_STATES.indexOf('failed');

/** Every type of event at least once, as a log could hold them. */
const HISTORY: readonly Event[] = [
  submitted(0, 1),
  submitted(1, 2),
  event('requestRemembered', { slot: 0, task: 1, dedupe: claimOf(9) }),
  leased({ slot: 0, task: 1, lease: 1, session: 'a' }),
  leased({ slot: 1, task: 2, lease: 2, session: 'b' }),
  event('attemptStarted', { slot: 0, task: 1 }),
  event('attemptReturned', { slot: 0, task: 1, reason: WORKER_LOST, spent: true }),
  leased({ slot: 0, task: 1, lease: 3, session: 'b' }),
  event('attemptSucceeded', { slot: 0, task: 1, output: payload('"yes"') }),
  event('attemptFailed', { slot: 1, task: 2, error: payload('"no"'), retryAt: 500 }),
  event('taskDue', { slot: 1, task: 2 }),
  leased({ slot: 1, task: 2, lease: 5, session: 'b' }),
  event('attemptFailed', { slot: 1, task: 2, error: payload('"never"'), retryAt: 0 }),
  event('stateHashed', { slot: 0, task: 0, schema: 1, hash: 1 }),
  event('taskForgotten', { slot: 0, task: 1 }),
  event('dedupeInputChanged', { slot: 0, task: 1 }),
  event('dedupeForgotten', { slot: 0, task: 1 }),
  submitted(0, 3),
  leased({ slot: 0, task: 3, lease: 4, session: 'c' }),
  event('attemptsExhausted', { slot: 0, task: 3, reason: WORKER_LOST }),
  event('taskRetried', { slot: 0, task: 3, redrive: 0 }),
  event('taskPaused', { slot: 0, task: 3 }),
  event('taskResumed', { slot: 0, task: 3 }),
  event('taskPatched', { slot: 0, task: 3, fields: 31, priority: 7, timeouts: '{"runMs":5}' }),
  leased({ slot: 0, task: 3, lease: 6, session: 'c' }),
  event('attemptStopping', { slot: 0, task: 3, reason: RUN_TIMEOUT, stopAt: 600 }),
  event('attemptTimedOut', { slot: 0, task: 3, reason: RUN_TIMEOUT, retryAt: 700 }),
  event('taskDue', { slot: 0, task: 3 }),
  leased({ slot: 0, task: 3, lease: 7, session: 'c' }),
  event('attemptUsed', { slot: 0, task: 3, measured: 3, wallMs: 20, cpuMs: 5 }),
  event('attemptDeferred', { slot: 0, task: 3, startedAt: 0 }),
  event('taskEnded', {
    slot: 0,
    task: 3,
    state: FAILED,
    payload: payload('"x"'),
    hasPayload: true,
  }),
  event('redriveStarted', { redrive: 1, namespace: 'default', ratePer1000Sec: 5000 }),
  event('taskRetried', { slot: 0, task: 3, redrive: 1 }),
  event('redriveEnded', { redrive: 1 }),
  event('taskEnded', { slot: 0, task: 3, state: FAILED }),
  event('deadLetterDropped', { slot: 0, task: 3, isOverflow: true }),
  event('taskForgotten', { slot: 0, task: 3 }),
  event('taskReadmitted', {
    slot: 0,
    task: 3,
    taskType: 'x/t',
    submittedAt: 5,
    tags: '{"a":"b"}',
    callback: '{"url":"http://x","on":["failed"]}',
  }),
  event('taskEnded', { slot: 0, task: 3, state: FAILED }),
  event('callbackFailed', { task: 3, delivery: 1, failure: 1, nextAt: 900 }),
  event('callbackFailed', { task: 3, delivery: 1, failure: 3 }),
  event('callbackRedelivered', { task: 3, delivery: 1 }),
  event('callbackDelivered', { task: 3, delivery: 1 }),
  event('taskRetried', { slot: 0, task: 3, redrive: 0 }),
  event('taskEnded', { slot: 0, task: 3, state: FAILED }),
  event('callbackFailed', { task: 3, delivery: 2, failure: 3 }),
  event('callbackDropped', { task: 3, delivery: 2 }),
  event('numbersSkipped', { nextLease: 100, nextDelivery: 50 }),
  event('queueChanged', { taskType: 't', paused: true }),
  event('taskTypeChanged', { taskType: 't', definition: '{"priority":3}' }),
  event('accessKeyCreated', { key: 'k_1', namespace: 'default', role: 'admin', hash: 'ab' }),
  event('accessKeyExpirySet', { key: 'k_1', expiresAt: 900 }),
  event('accessKeyCreated', { key: 'k_2', namespace: 'x', role: 'viewer', expiresAt: 500 }),
  event('accessKeyRevoked', { key: 'k_2' }),
  event('workflowRegistered', {
    program: 0,
    name: 'w',
    workflowVersion: 1,
    sizes: [5, 1, 1],
    tasks: [1, 1, 1],
    arrivals: [1, 1, 1, 1, 1, 1, 0],
  }),
  event('runStarted', {
    slot: 0,
    task: 9,
    program: 0,
    base: 0,
    until: 5000,
    tags: '{"a":"b"}',
    correlation: 'c',
  }),
  event('stepSubmitted', { slot: 2, task: 10, step: 0, run: 9, reference: 'a', taskType: 't' }),
  leased({ slot: 2, task: 10, lease: 101, session: 'c' }),
  event('runChanged', { slot: 0, task: 9, state: 2, until: 5000 }),
  event('runChanged', { slot: 0, task: 9, state: 0, until: 6000 }),
  event('runOverdue', { slot: 0, task: 9 }),
  event('stepSkipPlanned', { slot: 1, task: 9, reference: 'b' }),
  event('valuesAsked', { slot: 0, task: 9, step: 2, evaluation: 1, reference: 'b' }),
  event('stepStarted', { slot: 1, task: 9, kind: 7, until: 900, input: payload('{}') }),
  event('stepEnded', { slot: 1, task: 9, kind: 7, state: 5, nexts: [2] }),
  event('stepStarted', { slot: 2, task: 9, kind: 10 }),
  event('frameOpened', { slot: 2, task: 9, scope: 1, base: 8, iteration: 1 }),
  event('stepStarted', { slot: 8, task: 9, kind: 13 }),
  event('childStarted', {
    ...{ slot: 1, task: 11, program: 0, base: 16 },
    ...{ parent: 9, parentAt: 100, step: 9, reference: 'sub', relation: 1, depth: 1 },
  }),
  event('runEnded', { slot: 1, task: 11, state: 3 }),
  event('runDeliveryOwed', {
    slot: 0,
    task: 9,
    state: FAILED,
    taskType: 'default/(runs)',
    callback: '{"url":"http://x","on":["failed"]}',
  }),
  event('stepEnded', { slot: 8, task: 9, kind: 13, state: 5, nexts: [2] }),
  event('stepEnded', { slot: 2, task: 9, kind: 10, state: 5, nexts: [3] }),
  event('stepStarted', { slot: 3, task: 9, kind: 11, items: 2, input: payload('{"items":[1,2]}') }),
  event('branchesOpened', { slot: 3, task: 9, scope: 2, base: 10, count: 2, tasks: 2, join: 4 }),
  event('stepEnded', { slot: 10, task: 9, kind: 0, state: 5, nexts: [4] }),
  event('stepEnded', { slot: 11, task: 9, kind: 0, state: 5, nexts: [4] }),
  event('runStopping', { slot: 0, task: 9, outcome: 5, step: 1, output: payload('{}') }),
  event('stepStopping', { slot: 0, task: 9 }),
  event('attemptSucceeded', { slot: 2, task: 10, output: payload('1') }),
  event('stepEnded', { slot: 0, task: 9, kind: 0, state: 5 }),
  event('runEnded', { slot: 0, task: 9, state: 5, hasOutput: true, output: payload('2') }),
  event('runRevived', { slot: 0, task: 9, until: 9000, tasks: 2, isRestarted: true }),
  event('stepsReset', {
    ...{ slot: 0, task: 9, steps: [0, 3, 4], waiting: [0, 1, 1], kinds: [0, 0, 0] },
    ...{ frames: [10, 2], input: payload('{}') },
  }),
  event('stepKeyKept', { slot: 0, task: 9, key: 5 }),
  event('runStopping', { slot: 0, task: 9, outcome: 6, output: payload('{}') }),
  event('runEnded', { slot: 0, task: 9, state: 6 }),
  event('runForgotten', { slot: 1, task: 11 }),
  event('runForgotten', { slot: 0, task: 9 }),
  event('runReadmitted', { slot: 0, task: 9, startedAt: 50, program: 0, base: 0 }),
  event('runStopping', { slot: 0, task: 9, outcome: 6, output: payload('{}') }),
  event('runEnded', { slot: 0, task: 9, state: 6 }),
  event('runForgotten', { slot: 0, task: 9 }),
  event('workflowRemoved', { program: 0 }),
  event('auditRecorded', { actor: 'k_1', action: 'queue_paused', subject: 't' }),
  event('schedulePut', {
    slot: 0,
    task: 20,
    namespace: 'default',
    name: 'a',
    definition: payload('a{}1'),
    nameBytes: 1,
    settingsBytes: 2,
    revision: 1,
    nextAt: 9000,
    timerAt: 9000,
  }),
  event('scheduleChanged', { slot: 0, task: 20, revision: 2, nextAt: 8000, timerAt: 8000 }),
  event('scheduleFired', { slot: 0, task: 20, scheduledAt: 8000, made: 2, nextAt: 9000 }),
  event('scheduleDelayed', { slot: 0, task: 20, reason: 3, timerAt: 9500 }),
  event('timesMissed', { slot: 0, task: 20, count: 4 }),
  event('backfillStarted', { slot: 0, task: 20, backfill: 1, ratePer1000Sec: 1000 }),
  event('backfillEnded', { slot: 0, task: 20, backfill: 1 }),
  event('scheduleRemoved', { slot: 0, task: 20 }),
];

test('the history has every type of event', () => {
  const types = new Set(HISTORY.map((each) => each.type));

  expect(types.size).toBe(Object.keys(makeEvents()).length);
});

/** Reads an event back from bytes, into an object that the next event overwrites. */
function readBack(each: Event, decoder: EventDecoder): Event {
  const writer = new RecordWriter(testUtf8);
  writer.beginRecord(1);
  encodeEvent(writer, each);
  writer.endRecord();
  const reader = new RecordReader(writer.bytes.slice(0, writer.length), testUtf8);
  reader.beginRecord();
  return decoder.next(reader);
}

test('events from the log give the state that they gave at first, after each (L3)', () => {
  const [first, second] = [new State(0, LIMITS), new State(0, LIMITS)];
  const decoder = new EventDecoder();

  HISTORY.forEach((each, index) => {
    apply(first, 100 + index, each);
    apply(second, 100 + index, readBack(each, decoder));

    expect(describeState(second)).toEqual(describeState(first));
  });
});

test('applying leaves the event as it was', () => {
  const state = new State(0, LIMITS);
  const before = JSON.stringify(HISTORY);

  HISTORY.forEach((each, index) => {
    apply(state, index, each);
  });

  expect(JSON.stringify(HISTORY)).toBe(before);
});

test('a slot that is used again has nothing of the task before', () => {
  const state = new State(0, LIMITS);
  const fresh = new State(0, LIMITS);
  const end = HISTORY.findLastIndex((each) => each.type === 'task_submitted') + 1;

  HISTORY.slice(0, end).forEach((each) => {
    apply(state, 7, each);
  });
  apply(fresh, 7, submitted(0, 3));

  // Except for its order, which is never reused.
  const { order } = describeState(state).tasks[0];
  expect(describeState(state).tasks[0]).toEqual({ ...describeState(fresh).tasks[0], order });
});

test('an attempt that did not count is taken off again', () => {
  const state = new State(0, LIMITS);
  apply(state, 1, submitted(0, 1));
  apply(state, 2, leased({ slot: 0, task: 1, lease: 1, session: 'a' }));

  apply(state, 3, event('attemptReturned', { slot: 0, task: 1, reason: 7, spent: false }));

  expect(describeState(state).tasks[0]).toMatchObject({ state: 'queued', attempt: 0 });
});

test('an event that does not find its task in its slot shows that state and log disagree', () => {
  const state = new State(0, LIMITS);
  apply(state, 1, submitted(0, 1));

  const wrongTask = event('attemptStarted', { slot: 0, task: 2 });
  const wrongSlot = submitted(3, 2);

  expect(() => apply(state, 2, wrongTask)).toThrow(InvariantError);
  expect(() => apply(state, 2, wrongSlot)).toThrow(InvariantError);
});

function submitted(slot: number, task: number): Event {
  const input = payload('"in"');
  return event('taskSubmitted', {
    slot,
    task,
    taskType: 't',
    priority: 4,
    dedupe: claimOf(task),
    input,
  });
}

function leased(given: { slot: number; task: number; lease: number; session: string }): Event {
  return event('attemptLeased', { ...given, worker: `worker of ${given.session}`, leaseMs: 3000 });
}

function event(name: keyof ReturnType<typeof makeEvents>, fields: object): Event {
  return Object.assign(makeEvents()[name], fields);
}

function payload(text: string) {
  const bytes = new TextEncoder().encode(text);
  return { bytes, start: 0, end: bytes.length };
}

function claimOf(task: number) {
  return { words: Uint32Array.of(task, 2, 3, 4, 5, 6, 7, 8), start: 0, windowMs: 1000 };
}
