import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_NAMESPACE, FAILED, QUEUED } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TaskRecord } from '../records/task-record.ts';
import { DayFolder } from './day-file.ts';
import { DayFiles, type FileNotice, type Retention } from './day-files.ts';
import { DAY_MS, record, START_AT } from './record-fixture.ts';
import type { RowQuery } from './row-query.ts';

const FOR_EVER: Retention = {
  ageMs: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
};

let folder: string;
let files: DayFiles;
let notices: FileNotice[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-days-'));
  open();
});

afterEach(() => {
  files.close();
  rmSync(folder, { recursive: true });
});

function open(): void {
  notices = [];
  files = new DayFiles(new DayFolder(folder), (notice) => notices.push(notice));
}

function write(...records: TaskRecord[]): void {
  files.write(records.map((each) => ({ record: each, position: 1 })));
}

/** Returns the number of steps that retention took. */
function retain(now: number, retention: Retention): number {
  let steps = 1;
  while (files.retain(now, retention)) steps += 1;
  return steps;
}

function found(query: Partial<RowQuery> = {}): number[] {
  const all = { namespace: DEFAULT_NAMESPACE, before: Number.MAX_SAFE_INTEGER, from: 0, limit: 2 };
  const times = { since: 0, until: Number.POSITIVE_INFINITY };
  const results = [...files.find({ ...all, ...query }, times, () => false)];
  return results.flatMap((result) => ('passed' in result ? [] : result.number));
}

function days(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite'))
    .sort();
}

/** Size of the files after their write-ahead logs are merged. */
function bytesOfRows(): number {
  files.close();
  const sizes = days().map((name) => statSync(join(folder, name)).size);
  open();
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The time `count` days after the beginning of the first day. */
function after(count: number): number {
  return START_AT + count * DAY_MS;
}

test('each day of submits has a file, and a search goes through all of them', () => {
  write(record(1, 1), record(2, 1), record(3, 2), record(4, 4));

  expect(days()).toEqual([
    '0000-kept.sqlite',
    '2030-01-01.sqlite',
    '2030-01-02.sqlite',
    '2030-01-04.sqlite',
  ]);
  expect(found()).toEqual([4, 3, 2, 1]);
  expect(found({ tags: { team: 'a' }, before: 4 })).toEqual([3, 2, 1]);
  expect([1, 2, 3, 4].map((number) => files.read(number)?.record.number)).toEqual([1, 2, 3, 4]);
});

test('a search for text looks at rows in parts, and says how far it has come', () => {
  const numbers = Array.from({ length: 25_000 }, (_, index) => index + 1);
  const day = (number: number): number => (number <= 12_000 ? 1 : 2);
  const textIn = (number: number): string => (number % 12_345 === 0 ? '"needle"' : '"hay"');
  write(...numbers.map((number) => ({ ...record(number, day(number)), input: textIn(number) })));
  const query = { namespace: DEFAULT_NAMESPACE, from: 0, limit: 2, text: 'needle' };
  const times = { since: 0, until: Number.POSITIVE_INFINITY };

  const search = files.find({ ...query, before: Number.MAX_SAFE_INTEGER }, times, () => false);
  const steps = [...search].map((each) => ('passed' in each ? -each.passed : each.number));
  expect(steps).toEqual([24_690, -15_001, 12_345, -12_001, -2001, -1]);
  for (const passed of [15_001, 12_001]) {
    const rest = steps.slice(steps.indexOf(-passed) + 1).filter((number) => number > 0);
    expect(found({ text: 'needle', before: passed })).toEqual(rest);
  }
});

test('a day that is too old is removed, and no later one', () => {
  write(record(1, 1), record(2, 2), record(3, 3));

  retain(after(3) - 1, { ...FOR_EVER, ageMs: 2 * DAY_MS });
  expect(found()).toEqual([3, 2, 1]);
  retain(after(3), { ...FOR_EVER, ageMs: 2 * DAY_MS });

  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-02.sqlite', '2030-01-03.sqlite']);
  expect(found()).toEqual([3, 2]);
  expect(files.read(1)).toBeUndefined();
  expect(notices).toEqual([{ type: 'day_removed', day: '2030-01-01' }]);
});

test('the oldest days are removed while all are too much, never the newest', () => {
  for (const day of [1, 2, 3]) {
    write(...Array.from({ length: 1000 }, (_, index) => record(day * 1000 + index, day)));
  }
  const before = files.bytes;
  const oneTooMany = bytesOfRows() - 1;

  retain(after(3), { ...FOR_EVER, bytesMax: oneTooMany });
  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-02.sqlite', '2030-01-03.sqlite']);
  expect(files.bytes).toBeLessThan(before);
  retain(after(3), { ...FOR_EVER, bytesMax: 0 });

  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-03.sqlite']);
});

test('what has not ended, and dead letters, outlive their day', () => {
  const discarded = { ...record(3, 1, FAILED), isDiscarded: true };
  write(record(1, 1, QUEUED), record(2, 1, FAILED), discarded, record(4, 1), record(5, 9));

  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });

  expect(found()).toEqual([5, 2, 1]);
  expect(found({ tags: { team: 'a' }, state: 'failed' })).toEqual([2]);
  expect(files.read(1)?.record).toEqual(record(1, 1, QUEUED));
});

test('dead letters that were discarded take no room from the days that are left', () => {
  const input = JSON.stringify('x'.repeat(5000));
  const dead = Array.from({ length: 2000 }, (_, index) => {
    return { ...record(index + 1, 1, FAILED), input };
  });
  write(...dead);
  write(record(2001, 9), record(2002, 10));
  retain(after(10), { ...FOR_EVER, ageMs: 5 * DAY_MS });
  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-09.sqlite', '2030-01-10.sqlite']);
  const full = files.bytes;
  write(...dead.map((each) => ({ ...each, isDiscarded: true })));

  const steps = retain(after(10), { ageMs: 5 * DAY_MS, bytesMax: 1_000_000 });

  expect(steps).toBeGreaterThan(3);
  expect(found()).toEqual([2002, 2001]);
  expect(files.bytes).toBeLessThan(full / 5);
});

test('what outlives its day moves in steps, and what happens between them is kept', () => {
  const numbers = Array.from({ length: 3000 }, (_, index) => index + 1);
  write(...numbers.map((number) => record(number, 1, FAILED)), record(3001, 9));
  const retention = { ...FOR_EVER, ageMs: DAY_MS };
  expect(files.retain(after(9), retention)).toBe(true);
  const [first, last] = [record(1, 1), record(3000, 1)].map((each) => {
    return { ...each, endedAt: after(9) };
  });
  write(first, last);
  expect(files.read(1)?.record).toEqual(first);

  const steps = retain(after(9), retention);

  expect(steps).toBeGreaterThan(2);
  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-09.sqlite']);
  expect(files.read(1)?.record).toEqual(first);
  // The task had ended by the time that its part was moved.
  expect(files.read(3000)).toBeUndefined();
  expect(found({ state: 'failed' })).toEqual(numbers.slice(1, -1).toReversed());
});

test('a search that rests while a day is removed goes on with the days that are left', () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
  write(...numbers.map((number) => record(number, number <= 50 ? 1 : 5, FAILED)), record(101, 9));
  const all = { namespace: DEFAULT_NAMESPACE, before: 101, from: 0, limit: 10 };
  const times = { since: 0, until: Number.POSITIVE_INFINITY };
  const search = files.find(all, times, () => false);
  const next = search.next().value as TaskRecord;

  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });

  const rest = [...search].flatMap((result) => ('passed' in result ? [] : result.number));
  expect(days()).toEqual(['0000-kept.sqlite', '2030-01-09.sqlite']);
  expect([...new Set([next.number, ...rest])].sort((a, b) => a - b)).toEqual(numbers);
});

test('a task that ended after a move was cut short does not come back as open', () => {
  const numbers = Array.from({ length: 1500 }, (_, index) => index + 1);
  write(...numbers.map((number) => record(number, 1, QUEUED)), record(1501, 9));
  expect(files.retain(after(9), { ...FOR_EVER, ageMs: DAY_MS })).toBe(true);
  files.close();
  open();
  write({ ...record(1, 1), endedAt: after(9) });

  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });

  expect(files.read(1)).toBeUndefined();
  expect(found({ state: 'queued' })).toHaveLength(1499);
});

test('one that ended after its day was removed is kept as long as others after their end', () => {
  write(record(1, 1, QUEUED), record(2, 9));
  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });
  write({ ...record(1, 1), endedAt: after(9) });

  retain(after(10), { ...FOR_EVER, ageMs: DAY_MS });
  expect(found()).toEqual([2, 1]);
  retain(after(10) + 1, { ...FOR_EVER, ageMs: DAY_MS });

  expect(found()).toEqual([2]);
  expect(found({ tags: { team: 'a' } })).toEqual([2]);
});

test('a crash before a day is gone shows nothing twice', () => {
  write(record(1, 1, QUEUED), record(2, 1), record(3, 9));
  files.close();
  const aside = mkdtempSync(join(tmpdir(), 'sluice-days-'));
  const names = readdirSync(folder).filter((name) => name.startsWith('2030-01-01'));
  for (const name of names) copyFileSync(join(folder, name), join(aside, name));
  open();
  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });
  files.close();
  for (const name of names) copyFileSync(join(aside, name), join(folder, name));
  rmSync(aside, { recursive: true });

  open();
  expect(found()).toEqual([3, 2, 1]);
  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });
  expect(found()).toEqual([3, 1]);
});

test('a blob is named as long as a row names it, wherever the row is', () => {
  const blob = 'c0ffee';
  const named = (number: number, day: number, state?: number): TaskRecord => {
    const output = `@${number}`;
    const attempt = { attempt: 1, worker: 'w', leasedAt: 1, startedAt: 1, endedAt: 1 };
    const attempts = [{ ...attempt, outcome: 'succeeded', error: '', output }];
    return { ...record(number, day, state), input: `@${blob}`, result: '@result', attempts };
  };
  files.write([named(1, 1, QUEUED), named(2, 1)].map((each) => ({ record: each, position: 1 })));
  files.write([3, 4].map((day) => ({ record: record(day, day), position: 1 })));
  for (const name of [blob, 'result', '1', '2']) expect(files.names(`default/${name}`)).toBe(true);
  expect(files.names(`shop/${blob}`)).toBe(false);

  retain(START_AT + 3 * DAY_MS, { ...FOR_EVER, ageMs: DAY_MS });

  // An open task outlived its day.
  expect(['1', '2', blob].map((name) => files.names(`default/${name}`))).toEqual([
    true,
    false,
    true,
  ]);
  const ended = { ...named(1, 1), endedAt: START_AT };
  files.write([{ record: ended, position: 2 }]);
  retain(START_AT + 3 * DAY_MS, { ...FOR_EVER, ageMs: DAY_MS });
  expect(files.names(`default/${blob}`)).toBe(false);
});
