import { CronCalendar } from '@sluice/calendar';
import { expect, test } from 'vitest';
import { RandomStream } from '../kernel/random.ts';
import { drawSpec } from './draw-schedule.ts';
import { NaiveTimes } from './naive-times.ts';

const START = Date.UTC(2030, 0, 1);

test('the times of a fixed rate are those of its grid, within the window', () => {
  const spec = { everyMs: 1000, mode: 'fixedRate' } as const;
  const times = new NaiveTimes({ spec, window: { from: 2500, to: 5000 } }, 500);

  expect(times.between(0, 100_000)).toEqual([2500, 3500, 4500]);
  expect(times.next(4500)).toBe(0);
});

test('a single time counts once', () => {
  const times = new NaiveTimes({ spec: { at: 700 } }, 0);

  expect([times.next(0), times.next(699), times.next(700)]).toEqual([700, 700, 0]);
});

test('a pattern in another zone', () => {
  const spec = { cron: '15 3 * * *', timeZone: 'Asia/Kolkata' };

  expect(new Date(new NaiveTimes({ spec }, 0).next(START)).toISOString()).toBe(
    '2030-01-01T21:45:00.000Z',
  );
});

test('the patterns of the simulator have the same times as the calendar of the server', () => {
  const random = new RandomStream(1, 'patterns');
  const calendar = new CronCalendar();
  for (let i = 0; i < 200; i++) {
    const spec = drawSpec({ random, now: START, n: 1, hasRuns: false });
    if (typeof spec.cron !== 'string') continue;
    const { cron, timeZone = 'UTC' } = spec as { cron: string; timeZone?: string };
    const after = START + random.integer(0, 86_400_000);

    const next = new NaiveTimes({ spec: { cron, timeZone } }, 0).next(after);

    expect(next).toBe(calendar.next(cron, timeZone, after));
  }
});
