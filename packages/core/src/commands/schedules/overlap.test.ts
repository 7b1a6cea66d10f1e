import { beforeEach, describe, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { TEST_CALENDAR, TestSchedules } from '../../testing/schedules/test-schedules.ts';
import { TestPartition } from '../../testing/test-partition.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let partition: TestPartition;
let schedules: TestSchedules;

beforeEach(() => {
  partition = new TestPartition({}, { calendar: TEST_CALENDAR });
  schedules = new TestSchedules(partition);
});

const minutely = { spec: { cron: `every ${MINUTE}`, timeZone: 'UTC' } };

describe('overlap', () => {
  test('skip: nothing fires while the last one runs', () => {
    const session = schedules.work();
    schedules.put('a', { ...minutely, overlap: 'skip' });
    schedules.pass(5 * MINUTE);
    expect(schedules.get('a')).toMatchObject({ fires: 1, reason: 'overlap' });

    schedules.finish(session);
    schedules.pass(MINUTE);

    expect(schedules.get('a').fires).toBe(2);
    schedules.isReplayed();
  });

  test('queue: each time gets its turn after the one before', () => {
    const session = schedules.work();
    schedules.put('a', { ...minutely, overlap: 'queue' });
    const first = schedules.get('a').nextAt;
    schedules.pass(30 * MINUTE);
    expect(schedules.get('a')).toMatchObject({ fires: 1, isBlocked: true });

    for (let i = 0; i < 3; i++) {
      schedules.finish(session);
      partition.advance();
    }

    expect(schedules.get('a')).toMatchObject({ fires: 4, lastAt: first + 3 * MINUTE });
    schedules.isReplayed();
  });

  test('cancelPrevious: the last one is cancelled first', () => {
    schedules.put('a', { ...minutely, overlap: 'cancelPrevious' });
    schedules.pass(3 * MINUTE);
    const states = [2, 3, 4].map((number) => partition.task(number).state);
    expect(states).toEqual(['cancelled', 'cancelled', 'queued']);
    schedules.isReplayed();
  });
});

describe('a trigger while the last one runs', () => {
  /** The task of the time, then the one of the trigger, which ends first. */
  function triggered(overlap: 'skip' | 'queue'): SessionId {
    schedules.put('a', { ...minutely, overlap });
    const session = schedules.work();
    schedules.pass(MINUTE);
    schedules.trigger('a');
    const [, second] = partition.leasesOf(session);
    partition.report(session, { lease: second, kind: 'succeeded' });
    return session;
  }

  test('skip: the one before the trigger counts until it ends', () => {
    triggered('skip');

    schedules.pass(2 * MINUTE);

    expect(schedules.get('a')).toMatchObject({ fires: 2, reason: 'overlap' });
    schedules.isReplayed();
  });

  test('queue: the next time waits for both', () => {
    const session = triggered('queue');
    schedules.pass(2 * MINUTE);
    expect(schedules.get('a')).toMatchObject({ fires: 2, isBlocked: true });
    schedules.isReplayed();

    schedules.finish(session);
    partition.advance();

    expect(schedules.get('a').fires).toBe(3);
    schedules.isReplayed();
  });

  test('cancelPrevious: the next time cancels both', () => {
    schedules.put('a', { ...minutely, overlap: 'cancelPrevious' });
    schedules.pass(MINUTE);
    schedules.trigger('a');

    schedules.pass(MINUTE);

    const states = [2, 3, 4].map((number) => partition.task(number).state);
    expect(states).toEqual(['cancelled', 'cancelled', 'queued']);
    schedules.isReplayed();
  });

  test('a schedule that did not wait and is changed to queue waits for the one before', () => {
    triggered('skip');

    schedules.put('a', { ...minutely, overlap: 'queue' });

    expect(schedules.get('a').isBlocked).toBe(true);
    schedules.isReplayed();
  });

  test('a deleted schedule waits for nothing', () => {
    triggered('queue');

    schedules.remove('a');

    schedules.isReplayed();
  });
});

describe('permanent', () => {
  const permanent = (replicas: number) => ({ spec: { permanent: true, replicas } as const });

  function live(): number {
    return partition.state.schedules.replicas.liveOf(schedules.slotOf('a'));
  }

  test('as many run as it asks for; one that ends is started again, later and later', () => {
    const session = schedules.work();
    schedules.put('a', permanent(3));
    partition.advance();
    expect(live()).toBe(3);

    schedules.finish(session, 'failed');
    expect(live()).toBe(0);
    schedules.pass(999);
    expect(live()).toBe(0);
    schedules.pass(1);
    expect(live()).toBe(3);

    schedules.finish(session, 'failed');
    schedules.pass(1999);
    expect(live()).toBe(0);
    schedules.pass(1);
    expect(live()).toBe(3);
    schedules.isReplayed();
  });

  test('it is scaled, paused, resumed and stopped', () => {
    schedules.work();
    schedules.put('a', permanent(3));
    partition.advance();
    schedules.put('a', permanent(1));
    expect(partition.cancels).toHaveLength(2);
    schedules.pass(MINUTE);
    expect(live()).toBe(1);

    schedules.put('a', permanent(4));
    partition.advance();
    expect(live()).toBe(4);

    schedules.pause('a');
    schedules.pass(MINUTE);
    expect(live()).toBe(0);
    schedules.pause('a', false);
    partition.advance();
    expect(live()).toBe(4);

    schedules.remove('a');
    schedules.pass(MINUTE);
    expect(partition.state.tasks.count).toBeGreaterThan(0);
    expect(partition.state.schedules.watchedCount).toBe(0);
    schedules.isReplayed();
  });

  test('other work replaces what runs', () => {
    schedules.work();
    schedules.put('a', permanent(2));
    partition.advance();
    schedules.put('a', { ...permanent(2), input: '{"v":2}' });
    expect(partition.cancels).toHaveLength(2);
    schedules.pass(MINUTE);
    expect(live()).toBe(2);
    schedules.isReplayed();
  });
});
