import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CronCalendar } from './cron-calendar.ts';
import { parseCron } from './cron-pattern.ts';
import { naiveTimes } from './testing/naive-times.ts';
import { isTimeZone } from './time-zone.ts';

const DAY_MS = 86_400_000;

const calendar = new CronCalendar();

function times(cron: string, zone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let after = Date.parse(from);
  for (let i = 0; i < count; i++) {
    after = calendar.next(cron, zone, after);
    found.push(after === 0 ? 'never' : new Date(after).toISOString().slice(0, 16));
  }
  return found;
}

describe('clocks that change (calendar.clock-changes)', () => {
  test('a skipped time fires at the first instant after the gap, once', () => {
    const spring = (cron: string) => times(cron, 'Europe/Berlin', '2026-03-28T12:00:00Z', 2);
    expect(spring('30 2 * * *')).toEqual(['2026-03-29T01:00', '2026-03-30T00:30']);
    expect(spring('15,45 2 * * *')).toEqual(['2026-03-29T01:00', '2026-03-30T00:15']);
    expect(spring('0 2 * * *')).toEqual(['2026-03-29T01:00', '2026-03-30T00:00']);
  });

  test('a repeated time fires once, the first time', () => {
    const fall = (cron: string) => times(cron, 'Europe/Berlin', '2026-10-24T12:00:00Z', 2);
    expect(fall('30 2 * * *')).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
    expect(fall('0 2,3 * * *')).toEqual(['2026-10-25T00:00', '2026-10-25T02:00']);
  });

  test('a pattern of every hour goes on in a repeated hour', () => {
    expect(times('30 * * * *', 'Europe/Berlin', '2026-10-24T23:45:00Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
  });

  test('zones with halves of hours, with a skipped day, and without changes', () => {
    expect(times('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', 1)).toEqual([
      '2026-10-03T15:30',
    ]);
    expect(times('0 12 30 12 *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 2)).toEqual([
      '2011-12-30T10:00',
      '2012-12-29T22:00',
    ]);
    expect(times('0 0 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', 1)).toEqual([
      '2026-01-01T18:30',
    ]);
  });
});

test('month ends, leap days and special days', () => {
  const next = (cron: string, from = '2026-01-15T00:00:00Z') => times(cron, 'UTC', from, 1)[0];
  expect(next('0 0 31 * *', '2026-02-01T00:00:00Z')).toBe('2026-03-31T00:00');
  expect(next('0 0 29 2 *')).toBe('2028-02-29T00:00');
  expect(next('0 0 29 2 *', '2096-03-01T00:00:00Z')).toBe('2104-02-29T00:00');
  expect(next('0 0 L * *')).toBe('2026-01-31T00:00');
  expect(next('0 0 LW * *')).toBe('2026-01-30T00:00');
  expect(next('0 0 31W * *')).toBe('2026-01-30T00:00');
  expect(next('0 0 1W * *', '2026-07-31T12:00:00Z')).toBe('2026-08-03T00:00');
  expect(next('0 0 * * 5L')).toBe('2026-01-30T00:00');
  expect(next('0 0 * * 1#3')).toBe('2026-01-19T00:00');
  expect(next('0 0 13 * 5')).toBe('2026-01-16T00:00');
});

test('the same patterns as another implementation, away from clock changes', () => {
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min, max }).map(String),
      fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((step) => `*/${step}`),
      fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => {
        return `${Math.min(a, b)}-${Math.max(a, b)}`;
      }),
      fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map(String),
    );
  const patterns = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' '));
  const starts = fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2090, 0) });
  fc.assert(
    fc.property(patterns, starts, (cron, from) => {
      const other = new Cron(cron, { timezone: 'UTC', paused: true });
      let at = from;
      for (let i = 0; i < 3; i++) {
        const expected = other.nextRun(new Date(at))?.getTime() ?? 0;
        expect(calendar.next(cron, 'UTC', at)).toBe(expected);
        if (expected === 0) break;
        at = expected;
      }
    }),
    { numRuns: 200 },
  );
});

test('the same times as brute force, around clock changes of many zones', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'America/Sao_Paulo',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Gaza',
    'America/Santiago',
    'Atlantic/Azores',
  ];
  const hour = fc.oneof(
    fc.constantFrom('*', '*/2', '0-3', '1,2', '0,23'),
    fc.integer({ min: 0, max: 4 }).map(String),
  );
  const minute = fc.constantFrom('0', '30', '*/15', '5,35', '*/20', '59');
  const days = fc.integer({ min: 0, max: 365 * 3 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), minute, hour, days, (zone, minutes, hours, day) => {
      const cron = `${minutes} ${hours} * * *`;
      const from = Date.UTC(2024, 0, 1) + day * DAY_MS;
      const range = { from, to: from + 2 * DAY_MS, stepMs: 60_000 };
      const found: number[] = [];
      let at = calendar.next(cron, zone, from - 1);
      while (at !== 0 && at <= range.to) {
        found.push(at);
        at = calendar.next(cron, zone, at);
      }
      // Brute force cannot know whether its first local times were seen before.
      const settled = (all: readonly number[]) => all.filter((time) => time > from + DAY_MS / 2);
      expect(settled(found)).toEqual(settled(naiveTimes(parseCron(cron), zone, range)));
    }),
    { numRuns: 60 },
  );
});

test('the latest time is the last one that a walk forward meets', () => {
  const until = fc.integer({ min: Date.UTC(2026, 0, 10), max: Date.UTC(2027, 0) });
  const crons = fc.constantFrom('0 3 * * *', '*/7 * * * *', '0 0 1 * *', '15 10 ? * MON-FRI');
  fc.assert(
    fc.property(crons, until, (cron, end) => {
      const since = end - 9 * DAY_MS;
      let expected = 0;
      for (let at = calendar.next(cron, 'UTC', since - 1); at <= end; ) {
        expected = at;
        at = calendar.next(cron, 'UTC', at);
      }
      expect(calendar.latest(cron, 'UTC', { since, until: end })).toBe(expected);
    }),
    { numRuns: 100 },
  );
});

test('names of time zones', () => {
  expect(['UTC', 'Europe/Berlin'].every(isTimeZone)).toBe(true);
  expect(['Mars/Olympus', '', 'Europe'].some(isTimeZone)).toBe(false);
});
