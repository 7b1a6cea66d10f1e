import { FAILED, REASONS, TIMED_OUT } from '@sluice/core';
import { expect, test } from 'vitest';
import type { TaskRecord } from '../records/task-record.ts';
import { ErrorGroupCount, type ErrorGroups, fingerprintOf } from './error-groups.ts';

let numbers = 0;

const HOUR_MS = 3_600_000;
const NOW = 30 * HOUR_MS;

function failed(message: string | undefined, given: Partial<TaskRecord> = {}): TaskRecord {
  numbers += 1;
  const result = message === undefined ? '' : JSON.stringify({ message });
  const ended = { state: FAILED, reason: REASONS.indexOf('failed'), endedAt: numbers * 1000 };
  const record = { number: numbers, submittedAt: 0, queue: 'mail', result, ...ended, ...given };
  return record as TaskRecord;
}

function errorGroups(records: readonly TaskRecord[]): ErrorGroups {
  const counts = new ErrorGroupCount(NOW);
  for (const record of records) counts.add(record);
  return counts.result(true);
}

test.each([
  ['no answer from 10.0.0.1:80 after 31 ms', 'no answer from 10.0.0.27:8080 after 7 ms'],
  ["no such user 'ann'", "no such user 'bob'"],
  ['row 0a1b2c3d-0000-4000-8000-0123456789ab', 'row ffffffff-1111-4111-9111-ba9876543210'],
  ['object deadbeef01 is gone', 'object 0123456789abcdef is gone'],
  ['Connection Reset', 'connection reset'],
])('%s and %s are alike', (one, other) => {
  expect(fingerprintOf(one)).toBe(fingerprintOf(other));
});

test.each([
  ['connection reset', 'connection refused'],
  ['no such user', 'no such host'],
  ['cannot feed a facade', 'cannot feed a decade'],
])('%s and %s are not', (one, other) => {
  expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
});

test('counts by type and kind of error, the largest first, with the newest of each', () => {
  const first = failed('host 1 is down');
  const records = [
    first,
    failed('disk full'),
    failed('host 2 is down', { queue: 'other/sms' }),
    failed('host 3 is down'),
  ];

  const { items, others } = errorGroups(records);

  expect(others).toBe(0);
  expect(items.map(({ type, message, count }) => [type, message, count])).toEqual([
    ['mail', 'host 3 is down', 2],
    ['mail', 'disk full', 1],
    ['sms', 'host 2 is down', 1],
  ]);
  expect(items[0].firstEndedAt < items[0].lastEndedAt).toBe(true);
  expect(items[0].fingerprint).toBe(items[2].fingerprint);
});

test('a task without an error counts by how it ended', () => {
  const reason = REASONS.indexOf('run_timeout');

  const { items } = errorGroups([failed(undefined, { state: TIMED_OUT, reason })]);

  expect(items).toMatchObject([{ message: 'run_timeout', count: 1 }]);
});

test('of a stack trace the first line counts', () => {
  const { items } = errorGroups([failed('no\n  at a.ts:1'), failed('no\n  at b.ts:1')]);

  expect(items).toMatchObject([{ message: 'no', count: 2 }]);
});

test('so many kinds that nobody could look at them are counted together', () => {
  const words = Array.from({ length: 1500 }, (_, n) => `${String.fromCharCode(97 + (n % 26))} `);
  const records = words.map((word, n) => failed(word.repeat(1 + Math.floor(n / 26))));

  const { items, others } = errorGroups(records);

  expect(items).toHaveLength(1000);
  expect(others).toBe(500);
});

test('each group has its tasks of the last 24 hours by hour', () => {
  const hoursAgo = (hours: number) => failed('down', { endedAt: NOW - hours * HOUR_MS });

  const { items } = errorGroups([
    hoursAgo(0),
    hoursAgo(2),
    hoursAgo(2),
    hoursAgo(23),
    hoursAgo(24),
  ]);

  const expected = new Array(24).fill(0);
  expected[23] = 1;
  expected[21] = 2;
  expected[0] = 1;
  expect(items[0].endedByHour).toEqual(expected);
  expect(items[0].count).toBe(5);
});
