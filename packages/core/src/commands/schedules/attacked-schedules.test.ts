import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { TEST_CALENDAR, TestSchedules } from '../../testing/schedules/test-schedules.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { StartBackfill } from './backfill-schedules.ts';

/** Sequences that once lost, doubled or delayed a fire, or took too much. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let partition: TestPartition;
let schedules: TestSchedules;

function setUp(limits: ConstructorParameters<typeof TestPartition>[0] = {}): void {
  partition = new TestPartition(limits, { calendar: TEST_CALENDAR });
  schedules = new TestSchedules(partition);
}

beforeEach(() => setUp());

const rate = (everyMs: number) => ({ spec: { everyMs, mode: 'fixedRate' } }) as const;

test('a schedule that was permanent goes on after the end of what it made', () => {
  const session = schedules.work();
  schedules.put('a', { spec: { permanent: true, replicas: 1 } });
  schedules.pass(1);
  const old = partition.leasesOf(session);
  schedules.put('a', { ...rate(SECOND), overlap: 'queue' });
  schedules.pass(SECOND);

  for (const lease of partition.leasesOf(session)) {
    if (!old.includes(lease)) partition.report(session, { lease, kind: 'succeeded' });
  }

  expect(schedules.get('a')).toMatchObject({ isBlocked: false, hasTimer: true });
  schedules.isReplayed();
});

test('misfireMax also bounds times that make nothing', () => {
  schedules.work();
  schedules.put('a', { ...rate(100), misfire: 'all', misfireMax: 3, overlap: 'skip' });
  schedules.pass(100);
  schedules.outage(HOUR);
  const { skips } = partition.state.schedules.table;
  expect(partition.nextTimerAt).toBeGreaterThan(partition.now);
  expect(skips[schedules.slotOf('a')]).toBe(HOUR / 100);
  schedules.isReplayed();
});

test('a single time that has fired stays fired, whatever else changes', () => {
  const at = partition.now + SECOND;
  schedules.put('a', { spec: { at } });
  schedules.pass(2 * SECOND);
  schedules.put('a', { spec: { at }, jitterMs: 5 });
  schedules.put('a', { spec: { at }, window: { to: partition.now + HOUR } });
  schedules.pass(HOUR);
  expect(schedules.get('a').fires).toBe(1);
});

test('a single time that passes during a pause is made up for, also after a put', () => {
  const at = partition.now + SECOND;
  schedules.put('a', { spec: { at }, paused: true });
  schedules.pass(MINUTE);
  schedules.put('a', { spec: { at } });
  schedules.pass(SECOND);
  expect(schedules.get('a').fires).toBe(1);
});

test('a single time in the past fires once, also with misfire skip', () => {
  schedules.put('a', { spec: { at: 5 }, misfire: 'skip' });
  schedules.pass(SECOND);
  expect(schedules.get('a')).toMatchObject({ fires: 1, nextAt: 0 });
});

test('another jitter or window leaves a fixed rate in its phase', () => {
  schedules.put('a', rate(HOUR));
  const { nextAt } = schedules.get('a');
  schedules.pass(30 * MINUTE);
  schedules.put('a', { ...rate(HOUR), jitterMs: 1 });
  expect(schedules.get('a').nextAt).toBe(nextAt);
});

test('times of a pause do not count for a schedule that waits for its last one', () => {
  const session = schedules.work();
  schedules.put('a', { ...rate(MINUTE), overlap: 'queue' });
  schedules.pass(MINUTE);
  schedules.pause('a');
  schedules.pass(HOUR);
  schedules.pause('a', false);
  for (let i = 0; i < 5; i++) {
    schedules.finish(session);
    partition.advance();
  }
  expect(schedules.get('a').fires).toBe(1);
  schedules.isReplayed();
});

test('jitter leads to no fire after the window', () => {
  const window = { to: partition.now + 2 * MINUTE };
  for (let n = 0; n < 10; n++) {
    schedules.put(`s${n}`, { ...rate(MINUTE), jitterMs: 50 * SECOND, window });
  }
  schedules.passUntil(window.to);
  const { count } = partition.state.tasks;
  schedules.pass(HOUR);
  expect([count, partition.state.tasks.count]).toEqual([20, 20]);
});

test('a backfill is for times that are over, and waits for room in the quota', () => {
  const quotas = {
    tasksMax: 2,
    payloadBytesMax: 10_000,
    dedupeKeysMax: 10,
    taskTypesMax: 10,
    shapesMax: 10,
    sessionsMax: 10,
    schedulesMax: 10,
    runsMax: 10,
  };
  setUp({ quotas });
  const session = schedules.work();
  schedules.put('a', { ...rate(SECOND), paused: true });
  partition.now += 10 * SECOND;
  const range = { from: partition.now - 4 * SECOND, to: partition.now + HOUR, ratePerSec: 100 };
  partition.operate<StartBackfill>({ type: 'start_backfill', name: 'a', ...range });
  for (let i = 0; i < 10; i++) {
    schedules.pass(2 * SECOND);
    schedules.finish(session);
  }
  expect(schedules.get('a').fires).toBe(5);
  expect(partition.state.schedules.backfills.size).toBe(0);
  schedules.isReplayed();
});

test('another task ends a backfill', () => {
  schedules.put('a', { ...rate(SECOND), paused: true });
  partition.now += MINUTE;
  const range = { from: 0, to: partition.now, ratePerSec: 0.01 };
  partition.operate<StartBackfill>({ type: 'start_backfill', name: 'a', ...range });
  schedules.put('a', { ...rate(SECOND), paused: true, type: 'other' });
  expect(partition.state.schedules.backfills.size).toBe(0);
});

test('the last one is cancelled only when there is room for the next one', () => {
  setUp({ tasksMax: 1, finishedTasksMax: 0 });
  schedules.put('a', { ...rate(MINUTE), overlap: 'cancelPrevious' });
  schedules.pass(2 * MINUTE + SECOND);
  expect(partition.task(2).state).toBe('queued');
});

test('schedules count in the quota of bytes, and a smaller one always fits', () => {
  const quotas = {
    tasksMax: 10,
    payloadBytesMax: 1000,
    dedupeKeysMax: 10,
    taskTypesMax: 10,
    shapesMax: 10,
    sessionsMax: 10,
    schedulesMax: 10,
    runsMax: 10,
  };
  setUp({ quotas });
  const large = JSON.stringify('x'.repeat(800));
  expect(schedules.put('a', { ...rate(MINUTE), input: large }).change).toBe('created');
  expect(schedules.put('b', { ...rate(MINUTE), input: large }).rejection).toBe('quota_exceeded');
  expect(schedules.put('a', { ...rate(MINUTE), paused: true }).change).toBe('replaced');
  expect(schedules.put('b', { ...rate(MINUTE), input: '"x"' }).change).toBe('created');
  schedules.remove('a');
  schedules.remove('b');
  expect(partition.state.namespaces.find('default')).toBeUndefined();
});

test('placeholders that make an input too large are a reason, not a task', () => {
  const input = JSON.stringify('{{scheduledAt}}'.repeat(12_000));
  setUp({ payloadBytesMax: 2 ** 22, arenaChunkBytes: 2 ** 20 });
  schedules.put('a', { ...rate(MINUTE), input });
  schedules.pass(MINUTE);
  expect(schedules.get('a')).toMatchObject({ fires: 0, reason: 'unfit_input' });
});

test('a change of anything else keeps the backoff of a replica', () => {
  const session = schedules.work();
  schedules.put('a', { spec: { permanent: true, replicas: 1 } });
  partition.advance();
  schedules.finish(session, 'failed');
  schedules.put('a', { spec: { permanent: true, replicas: 1 }, tags: { a: 'b' } });
  partition.advance();
  expect(partition.state.schedules.replicas.liveOf(schedules.slotOf('a'))).toBe(0);
});

test('a single time is refused with a window that excludes it', () => {
  const at = partition.now + MINUTE;
  schedules.put('a', { spec: { at } });

  const before = schedules.put('a', { spec: { at }, window: { to: at - 1 } });
  const after = schedules.put('a', { spec: { at }, window: { from: at + 1 } });

  expect([before.rejection, after.rejection]).toEqual(['never_fires', 'never_fires']);
  schedules.pass(HOUR);
  expect(schedules.get('a').fires).toBe(1);
});

test('jitter above the period of a pattern makes no time a missed one', () => {
  const spec = { cron: `every ${SECOND}`, timeZone: 'UTC' };
  schedules.put('a', { spec, jitterMs: 30 * SECOND, misfire: 'skip' });

  schedules.pass(95 * SECOND);

  const { skips, fires } = partition.state.schedules.table;
  const slot = schedules.slotOf('a');
  expect(skips[slot]).toBe(0);
  expect(fires[slot]).toBeGreaterThanOrEqual(60);
  schedules.isReplayed();
});

test('jitter above the period does not hide an outage', () => {
  const spec = { cron: `every ${SECOND}`, timeZone: 'UTC' };
  schedules.put('a', { spec, jitterMs: MINUTE, misfire: 'skip' });
  schedules.pass(MINUTE);
  const slot = schedules.slotOf('a');
  const before = partition.state.schedules.table.fires[slot];

  schedules.outage(HOUR);

  expect(partition.state.schedules.table.fires[slot]).toBe(before);
});

const delay = (everyMs: number) => ({ spec: { everyMs, mode: 'fixedDelay' } }) as const;

test('a fixed delay that waits for an end does not fire before its new window', () => {
  const session = schedules.work();
  schedules.put('a', delay(SECOND));
  schedules.pass(SECOND);
  const from = partition.now + MINUTE;
  schedules.put('a', { ...delay(SECOND), window: { from } });
  schedules.finish(session);

  schedules.passUntil(from - 1);
  expect(schedules.get('a').fires).toBe(1);
  schedules.passUntil(from);

  expect(schedules.get('a')).toMatchObject({ fires: 2, lastAt: from });
  schedules.isReplayed();
});

test('a window that is over is refused, also while the last one runs', () => {
  schedules.work();
  schedules.put('a', { ...rate(SECOND), overlap: 'queue' });
  schedules.put('b', delay(SECOND));
  schedules.pass(MINUTE);
  const window = { to: partition.now - 1 };

  const queued = schedules.put('a', { ...rate(SECOND), overlap: 'queue', window });
  const delayed = schedules.put('b', { ...delay(SECOND), window });

  expect([queued.rejection, delayed.rejection]).toEqual(['never_fires', 'never_fires']);
});

/** Memory that one task of somebody else fills. */
function fillMemory(): SessionId {
  setUp({ tasksMax: 1, finishedTasksMax: 0 });
  const session = schedules.work();
  partition.submit({});
  return session;
}

test('while memory is full tries become rarer, and are noted', () => {
  fillMemory();
  schedules.put('a', rate(SECOND));
  const tries: number[] = [];

  for (let i = 0; i < 10; i++) {
    partition.now = Math.max(partition.now, partition.nextTimerAt);
    partition.advance();
    expect(partition.outputs.delayedFires).toEqual([schedules.slotOf('a')]);
    tries.push(partition.now);
  }

  const gaps = tries.slice(1).map((at, place) => (at - tries[place]) / SECOND);
  expect(gaps).toEqual([1, 1, 2, 4, 8, 16, 30, 30, 30]);
});

test('missed times that found no room lead to one fire', () => {
  const session = fillMemory();
  schedules.put('a', rate(SECOND));
  schedules.pass(HOUR);
  schedules.finish(session);

  schedules.passUntil(partition.nextTimerAt);

  expect(schedules.get('a')).toMatchObject({ fires: 1 });
  schedules.isReplayed();
});
