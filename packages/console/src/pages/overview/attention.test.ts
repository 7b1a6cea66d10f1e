import { expect, test } from 'vitest';
import { attentionOf } from './attention.ts';

const NOTHING = { queues: [], workers: [], schedules: [], undelivered: 0, cluster: undefined };

const queue = (given: object) =>
  ({
    type: 'mail',
    depth: 0,
    deadLetters: 0,
    workers: 1,
    paused: false,
    oldestAgeMs: null,
    ...given,
  }) as never;

test('a server without troubles needs nobody', () => {
  expect(attentionOf({ ...NOTHING, queues: [queue({ depth: 5, oldestAgeMs: 100 })] })).toEqual([]);
});

test('each trouble has the page where it is dealt with', () => {
  const found = attentionOf({
    queues: [
      queue({ deadLetters: 3 }),
      queue({ type: 'report', depth: 2, workers: 0 }),
      queue({ type: 'slow', depth: 1, oldestAgeMs: 120_000 }),
      queue({ type: 'stopped', depth: 1, paused: true }),
    ],
    workers: [{ name: 'w-1', connected: false } as never],
    schedules: [
      {
        id: 'nightly',
        state: 'active',
        lastFireAt: null,
        lastSkip: { scheduledAt: '2026-01-01T00:00:00.000Z', reason: 'no_room' },
      } as never,
    ],
    undelivered: 2,
    cluster: {
      projection: { state: 'failing', why: 'the disk is slow' },
      disk: { freeBytes: 1, totalBytes: 100 },
      partitions: [],
    } as never,
  });

  expect(found.map(({ to, text }) => `${to} ${text}`)).toEqual([
    '/settings Only 1 B of disk space are left',
    '/settings Search and history are failing: the disk is slow',
    '/dead-letters 3 dead letters of mail',
    '/workers No worker runs report, 2 tasks wait',
    '/queues The oldest task of slow has waited for 2 min',
    '/queues Queue stopped is paused, 1 task wait',
    '/workers 1 worker lost the connection: w-1',
    '/schedules 1 schedule did not fire: nightly',
    '/settings 2 callbacks could not be delivered',
  ]);
});

test('a schedule that skipped a time because the last one still ran is as it should be', () => {
  const schedule = {
    id: 'poll',
    state: 'active',
    lastFireAt: null,
    lastSkip: { scheduledAt: '2026-01-01T00:00:00.000Z', reason: 'overlap' },
  };

  expect(attentionOf({ ...NOTHING, schedules: [schedule as never] })).toEqual([]);
});
