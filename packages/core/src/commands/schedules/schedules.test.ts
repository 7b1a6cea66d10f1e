import { beforeEach, describe, expect, test } from 'vitest';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TEST_CALENDAR, TestSchedules } from '../../testing/schedules/test-schedules.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let partition: TestPartition;
let schedules: TestSchedules;

beforeEach(() => {
  partition = new TestPartition({}, { calendar: TEST_CALENDAR });
  schedules = new TestSchedules(partition);
});

const minutely = { spec: { cron: `every ${MINUTE}`, timeZone: 'UTC' } };

function tasks(): number {
  return partition.state.tasks.count;
}

describe('times', () => {
  test('a pattern fires at each of its times and never before', () => {
    schedules.put('nightly', minutely);
    const first = schedules.get('nightly').nextAt;

    schedules.passUntil(first - 1);
    expect(tasks()).toBe(0);
    schedules.passUntil(first + 3 * MINUTE);

    expect(tasks()).toBe(4);
    expect(schedules.get('nightly')).toMatchObject({ fires: 4, lastAt: first + 3 * MINUTE });
    schedules.isReplayed();
  });

  test('a fixed rate begins one period after it was put, or when it says', () => {
    const start = partition.now;
    schedules.put('rate', { spec: { everyMs: 10 * SECOND, mode: 'fixedRate' } });
    const startAt = start + 3 * SECOND;
    schedules.put('later', { spec: { everyMs: 10 * SECOND, mode: 'fixedRate', startAt } });

    expect(schedules.get('rate').nextAt).toBe(start + 10 * SECOND);
    expect(schedules.get('later').nextAt).toBe(startAt);
    schedules.pass(60 * SECOND);
    expect(schedules.get('rate').fires).toBe(6);
    expect(schedules.get('later').fires).toBe(6);
  });

  test('a fixed delay counts from the end of the last one', () => {
    const session = schedules.work();
    schedules.put('delay', { spec: { everyMs: 10 * SECOND, mode: 'fixedDelay' } });
    schedules.pass(60 * SECOND);
    expect(schedules.get('delay')).toMatchObject({ fires: 1, isBlocked: true });

    schedules.finish(session);

    expect(schedules.get('delay').nextAt).toBe(partition.now + 10 * SECOND);
    schedules.pass(10 * SECOND);
    expect(schedules.get('delay').fires).toBe(2);
    schedules.isReplayed();
  });

  test('a single time fires once, also when it is over', () => {
    schedules.put('once', { spec: { at: partition.now + HOUR } });
    schedules.put('past', { spec: { at: partition.now - MINUTE } });

    schedules.pass(2 * HOUR);

    expect(schedules.get('once')).toMatchObject({ fires: 1, nextAt: 0, hasTimer: false });
    expect(schedules.get('past')).toMatchObject({ fires: 1, nextAt: 0 });
  });

  test('outside its window nothing fires', () => {
    const window = { from: partition.now + 10 * MINUTE, to: partition.now + 12 * MINUTE };
    schedules.put('window', { ...minutely, window });

    schedules.pass(HOUR);

    expect(schedules.get('window')).toMatchObject({ fires: 2, nextAt: 0, hasTimer: false });
  });

  test('jitter delays a fire by less than it says, and never brings it forward', () => {
    for (let i = 0; i < 20; i++) schedules.put(`n${i}`, { ...minutely, jitterMs: 30 * SECOND });
    const first = schedules.get('n0').nextAt;
    schedules.passUntil(first);
    const atOnce = tasks();
    schedules.passUntil(first + 30 * SECOND);

    expect(atOnce).toBeLessThan(10);
    expect(tasks()).toBe(20);
    schedules.isReplayed();
  });

  test('a pattern without any time is refused', () => {
    const { rejection } = schedules.put('never', { spec: { cron: 'never', timeZone: 'UTC' } });
    expect(rejection).toBe('never_fires');
    expect(schedules.put('over', { ...minutely, window: { to: 5 } }).rejection).toBe('never_fires');
  });
});

describe('changes', () => {
  test('the same put again changes nothing', () => {
    expect(schedules.put('a', minutely).change).toBe('created');
    const before = schedules.get('a');
    partition.now += SECOND;

    expect(schedules.put('a', minutely).change).toBe('unchanged');
    expect(schedules.get('a')).toEqual(before);
  });

  test('a changed spec counts at once; nothing of the old one fires', () => {
    schedules.put('a', minutely);
    schedules.put('a', { spec: { cron: `every ${HOUR}`, timeZone: 'UTC' } });

    schedules.pass(HOUR - 1);

    expect(schedules.get('a').fires).toBeLessThanOrEqual(1);
    expect(tasks()).toBe(schedules.get('a').fires);
    schedules.isReplayed();
  });

  test('a change of anything else keeps the next time', () => {
    schedules.put('rate', { spec: { everyMs: HOUR, mode: 'fixedRate' } });
    const { nextAt } = schedules.get('rate');
    partition.now += MINUTE;

    schedules.put('rate', { spec: { everyMs: HOUR, mode: 'fixedRate' }, tags: { team: 'a' } });

    expect(schedules.get('rate')).toMatchObject({ nextAt, revision: 2 });
  });

  test('a change from an older revision is refused', () => {
    schedules.put('a', minutely);
    schedules.put('a', { ...minutely, tags: { x: 'y' } });

    const { rejection } = schedules.put('a', { ...minutely, ifRevision: 1 });

    expect(rejection).toBe('schedule_changed');
    expect(schedules.get('a').settings.tags).toEqual({ x: 'y' });
  });

  test('a deleted schedule never fires again, and its name is free', () => {
    schedules.put('a', minutely);
    expect(schedules.remove('a').change).toBe('deleted');
    expect(schedules.remove('a').rejection).toBe('schedule_not_found');

    schedules.pass(HOUR);

    expect(tasks()).toBe(0);
    expect(schedules.put('a', minutely).change).toBe('created');
    schedules.isReplayed();
  });

  test('times that pass during a pause are not made up for', () => {
    schedules.put('a', minutely);
    schedules.pause('a');
    schedules.pass(HOUR);
    expect(tasks()).toBe(0);

    schedules.pause('a', false);
    schedules.pass(MINUTE);

    expect(schedules.get('a').fires).toBe(1);
    schedules.isReplayed();
  });

  test('a namespace cannot see the schedules of another one', () => {
    schedules.put('a', minutely);
    partition.namespace = 'other';
    expect(schedules.remove('a').rejection).toBe('schedule_not_found');
    expect(schedules.put('a', minutely).change).toBe('created');
  });

  test('a trigger fires a paused schedule, too, and does not move its times', () => {
    schedules.put('a', { ...minutely, paused: true });
    const { nextAt } = schedules.get('a');

    const { made, isRun } = schedules.trigger('a');

    expect([partition.task(made).state, isRun]).toEqual(['queued', false]);
    expect(schedules.get('a')).toMatchObject({ fires: 1, nextAt, paused: true });
    schedules.isReplayed();
  });
});

describe('an outage', () => {
  const rate = { spec: { everyMs: MINUTE, mode: 'fixedRate' } } as const;

  test.each([
    ['skip', 0],
    ['once', 1],
    ['all', 60],
  ] as const)('misfire %s makes up for %i of sixty times', (misfire, expected) => {
    schedules.put('a', { ...rate, misfire });
    schedules.outage(60 * MINUTE + 30 * SECOND);
    expect(schedules.get('a').fires).toBe(expected);
    expect(schedules.get('a').nextAt).toBe(partition.now + 30 * SECOND);
    schedules.pass(MINUTE);
    expect(schedules.get('a').fires).toBe(expected + 1);
    schedules.isReplayed();
  });

  test('at most misfireMax times are made up for, the oldest first', () => {
    schedules.put('a', { ...rate, misfire: 'all', misfireMax: 5 });
    schedules.outage(60 * MINUTE);
    expect(schedules.get('a').fires).toBe(5);
    expect(schedules.get('a').nextAt).toBe(partition.now + MINUTE);
  });

  test('a single made-up fire stands for the latest time that was missed', () => {
    schedules.put('a', { ...rate });
    const { nextAt } = schedules.get('a');
    schedules.outage(60 * MINUTE + SECOND);
    expect(schedules.get('a').lastAt).toBe(nextAt + 59 * MINUTE);
  });

  test('a short one is made up for in full, whatever the policy', () => {
    schedules.put('a', { spec: { everyMs: SECOND, mode: 'fixedRate' }, misfire: 'skip' });
    schedules.outage(9 * SECOND);
    expect(schedules.get('a').fires).toBe(9);
  });
});

describe('what a fire makes', () => {
  test('placeholders in the input are filled in', () => {
    const input = '{"at":"{{scheduledAt}}","n":["{{fireNumber}} of {{scheduleId}}"],"x":"{{y}}"}';
    schedules.put('daily-report', { ...minutely, input });
    schedules.pass(MINUTE);
    expect(JSON.parse(testUtf8.decode(Uint8Array.from(partition.task(2).input)))).toEqual({
      at: new Date(schedules.get('daily-report').lastAt).toISOString(),
      n: ['1 of daily-report'],
      x: '{{y}}',
    });
  });

  test('a run of a workflow; one that is not registered is a reason', () => {
    schedules.put('flow', { ...minutely, run: { workflow: 'flow' } });
    schedules.pass(MINUTE);
    expect(schedules.get('flow')).toMatchObject({ fires: 0, reason: 'workflow_not_found' });

    const runs = new TestRuns(partition);
    runs.register('flow', { tasks: [{ name: 'hello', taskReferenceName: 'a' }] });
    schedules.pass(MINUTE);

    expect(partition.state.runs.table.count).toBe(1);
    expect(schedules.get('flow').fires).toBe(1);
    schedules.isReplayed();
  });

  test('without room for a task the fire waits, and is not lost', () => {
    partition = new TestPartition(
      { tasksMax: 2, finishedTasksMax: 0 },
      { calendar: TEST_CALENDAR },
    );
    schedules = new TestSchedules(partition);
    const session = schedules.work();
    partition.submit({}, {});
    schedules.put('a', { spec: { at: partition.now + SECOND } });
    schedules.pass(5 * SECOND);
    expect(schedules.get('a')).toMatchObject({ fires: 0, reason: 'no_room' });

    schedules.finish(session);
    schedules.pass(5 * SECOND);

    expect(schedules.get('a').fires).toBe(1);
    schedules.isReplayed();
  });
});

test('a snapshot has everything, and a restart fires nothing twice', () => {
  const session = schedules.work();
  schedules.put('a', minutely);
  schedules.put('b', { ...minutely, overlap: 'queue' });
  schedules.put('c', { spec: { permanent: true, replicas: 2 } });
  schedules.pass(90 * SECOND);
  partition.snapshot();
  const before = schedules.get('a');
  schedules.isReplayed();

  partition.restart(MINUTE, { fromSnapshot: true });
  partition.advance();
  expect(schedules.get('a')).toEqual(before);
  partition.resume(session, partition.leasesOf(session), { types: ['hello'], slots: 10 });
  schedules.pass(2 * MINUTE);

  expect(schedules.get('a').fires).toBe(before.fires + 2);
  expect(partition.state.schedules.replicas.liveOf(schedules.slotOf('c'))).toBe(2);
  schedules.isReplayed();
});
