import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_NAMESPACE, FAILED, QUEUED, RUNNING, SUCCEEDED } from '@sluice/core';
import { SyncSession } from '@sluice/postgres';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DayTables } from '../../packages/server/src/projection/postgres/day-tables.ts';
import { PostgresMark } from '../../packages/server/src/projection/postgres/postgres-mark.ts';
import type { TaskRecord } from '../../packages/server/src/projection/records/task-record.ts';
import { DayFolder } from '../../packages/server/src/projection/rows/day-file.ts';
import {
  DayFiles,
  type FileNotice,
  type Retention,
} from '../../packages/server/src/projection/rows/day-files.ts';
import {
  DAY_MS,
  record,
  START_AT,
} from '../../packages/server/src/projection/rows/record-fixture.ts';
import type { RowQuery } from '../../packages/server/src/projection/rows/row-query.ts';

const FOR_EVER: Retention = {
  ageMs: Number.POSITIVE_INFINITY,
  bytesMax: Number.POSITIVE_INFINITY,
};
const EVER = { since: 0, until: Number.POSITIVE_INFINITY };
const ALL = { namespace: DEFAULT_NAMESPACE, before: Number.MAX_SAFE_INTEGER, from: 0, limit: 3 };

let store: TempStore;
let session: SyncSession;
let rows: DayFiles;
let notices: FileNotice[];

beforeEach(async () => {
  store = await TempStore.create();
  session = new SyncSession(store.address);
  open();
});

afterEach(async () => {
  session.close();
  await store.dispose();
});

function open(): void {
  notices = [];
  const tables = new DayTables(session, store.address.schema, 0);
  rows = new DayFiles(tables, (notice) => notices.push(notice));
}

function write(...records: TaskRecord[]): void {
  rows.write(records.map((each) => ({ record: each, position: 1 })));
}

function retain(now: number, retention: Retention): void {
  while (rows.retain(now, retention));
}

function found(query: Partial<RowQuery> = {}, from = rows, times = EVER): number[] {
  const results = [...from.find({ ...ALL, ...query }, times, () => false)];
  return results.flatMap((result) => ('passed' in result ? [] : result.number));
}

async function days(): Promise<string[]> {
  const { rows: tables } = await store.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'task\\_%'
     ORDER BY 1`,
    [store.address.schema],
  );
  return tables.map(({ name }) => name);
}

const after = (count: number): number => START_AT + count * DAY_MS;

test('each day has its tables, and a search goes through all of them', async () => {
  write(record(1, 1), record(2, 1), record(3, 2), record(4, 4));

  expect(await days()).toEqual([
    'task_0_20300101',
    'task_0_20300102',
    'task_0_20300104',
    'task_0_kept',
  ]);
  expect(found()).toEqual([4, 3, 2, 1]);
  open();
  expect(found({ tags: { team: 'a' }, before: 4 })).toEqual([3, 2, 1]);
  expect([1, 2, 3, 4].map((number) => rows.read(number)?.record)).toEqual([
    record(1, 1),
    record(2, 1),
    record(3, 2),
    record(4, 4),
  ]);
});

test('texts come back as they were, whatever is in them', () => {
  const odd = { ...record(1, 1), input: '"\u0000 \\u0000 é 😀"', result: '', parent: 'a\u0000b' };
  write(odd);

  expect(rows.read(1)?.record).toEqual(odd);
  expect(found({ text: '\u0000 \\u0000 é' })).toEqual([1]);
  expect(found({ parent: 'a\u0000b' })).toEqual([1]);
});

test('a page of rows takes a few statements, and large rows come in portions', () => {
  const large = JSON.stringify('x'.repeat(400_000));
  const numbers = Array.from({ length: 100 }, (_, index) => 100 - index);
  write(...numbers.map((n) => ({ ...record(n, 1), input: n <= 90 ? '7' : large })));
  const query = vi.spyOn(session, 'query');

  expect(found({ limit: 90, before: 91 })).toEqual(numbers.slice(10));
  const small = query.mock.calls.length;
  expect(found({ limit: 10 }).slice(0, 10)).toEqual(numbers.slice(0, 10));

  expect(small).toBeLessThan(12);
  const inputs = query.mock.results.map(({ value }) => {
    const answered = value.rows as readonly { readonly input?: Uint8Array }[];
    return answered.reduce((sum, { input }) => sum + (input?.length ?? 0), 0);
  });
  expect(Math.max(...inputs)).toBeGreaterThan(large.length);
  expect(Math.max(...inputs)).toBeLessThan(2 ** 20);
});

test('a row that has seen more of the log is not replaced by one that has seen less', () => {
  rows.write([{ record: record(1, 1), position: 9 }]);

  rows.write([{ record: record(1, 1, QUEUED), position: 5 }]);

  expect(rows.read(1)).toEqual({ record: record(1, 1), position: 9 });
});

test('a row that was changed is reported once and left out', async () => {
  write(record(1, 1), record(2, 1));
  await store.query('UPDATE $schema.task_0_20300101 SET ended_at = 0, submitted_at = 7');
  await store.query(
    `UPDATE $schema.task_0_20300101 SET submitted_at = ${record(2, 1).submittedAt}
     WHERE number = 2`,
  );

  expect(rows.read(1)).toBeUndefined();
  expect(rows.read(1)).toBeUndefined();
  expect(rows.read(2)?.record.number).toBe(2);
  expect(notices).toMatchObject([{ type: 'row_set_aside', day: '2030-01-01' }]);
});

test('a day that is too old is dropped, and what has not ended outlives it', async () => {
  write(record(1, 1, QUEUED), record(2, 1, FAILED), record(3, 1), record(4, 9));

  retain(after(9), { ...FOR_EVER, ageMs: DAY_MS });

  expect(await days()).toEqual(['task_0_20300109', 'task_0_kept']);
  expect(found()).toEqual([4, 2, 1]);
  write({ ...record(1, 1), endedAt: after(9) });
  retain(after(10) + 1, { ...FOR_EVER, ageMs: DAY_MS });
  expect(found({ tags: { team: 'a' } })).toEqual([4, 2]);
});

test('a blob is named as long as a row names it', () => {
  write({ ...record(1, 1), input: '@c0ffee' }, record(2, 9), record(3, 10));
  expect(rows.names('default/c0ffee')).toBe(true);

  retain(after(10), { ...FOR_EVER, ageMs: DAY_MS });

  expect(rows.names('default/c0ffee')).toBe(false);
});

/** A small generator, so that a failed run can be repeated. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

test('searches and retention do the same as on files, for random tasks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-days-'));
  const files = new DayFiles(new DayFolder(folder), () => undefined);
  const draws = numbers(Number(process.env.CI ? 7 : Date.now() % 100_000) + 1);
  const draw = <T>(...choices: readonly T[]): T => choices[draws.next().value % choices.length];
  const random = (number: number): TaskRecord => ({
    ...record(number, 1 + Math.floor(number / 40), draw(QUEUED, RUNNING, FAILED, SUCCEEDED)),
    queue: draw('mail', 'print', 'shop/mail'),
    tags: draw('', '{"team":"a"}', '{"team":"a","size":"1"}', '{"team":"b"}'),
    parent: draw('', 't_1', 't_2'),
    input: draw('{}', '"needle in hay"', '"@"'),
    isDiscarded: draw(true, false),
  });
  const query = (): Partial<RowQuery> => ({
    ...draw({}, { queue: 'mail' }, { namespace: 'shop' }),
    ...draw({}, { state: 'failed' }, { state: 'succeeded' }, { isOpen: true as const }),
    ...draw({}, { tags: { team: 'a' } }, { tags: { team: 'a', size: '1' } }),
    ...draw({}, {}, { parent: 't_1' }, { text: 'needle' }),
    ...draw({}, { before: 90 }, { from: 33 }),
  });
  for (let round = 1; round <= 6; round += 1) {
    const written = Array.from({ length: 60 }, (_, place) => random(round * 40 - 20 + place));
    for (const each of [rows, files]) {
      each.write(written.map((one) => ({ record: one, position: round })));
    }
    for (let asked = 0; asked < 12; asked += 1) {
      const wanted = query();
      const times = draw(EVER, { since: after(2), until: after(4) });
      expect(found(wanted, rows, times), JSON.stringify(wanted)).toEqual(
        found(wanted, files, times),
      );
    }
    const retention = { ...FOR_EVER, ageMs: 2 * DAY_MS };
    retain(after(round), retention);
    while (files.retain(after(round), retention));
  }

  files.close();
  rmSync(folder, { recursive: true });
});

test('the mark and its definitions are kept, and the mark never goes back', () => {
  const mark = new PostgresMark(session, { schema: store.address.schema, partition: 0 });
  expect(mark.read()).toEqual({ position: 0, at: 0, rebuildTo: 0 });

  const program = { place: 3, text: '\u0000' } as unknown as ReturnType<typeof mark.programs>[0];
  mark.write({ position: 12, at: 2 ** 42, rebuildTo: 5 }, [program]);
  mark.write({ position: 9, at: 1, rebuildTo: 5 });

  expect(mark.read()).toEqual({ position: 12, at: 2 ** 42, rebuildTo: 5 });
  expect(mark.programs()).toEqual([program]);
});

test('a statement that the database refuses throws, and the next one is answered', () => {
  expect(() => session.query('SELECT 1/0 AS x')).toThrow('division by zero');

  expect(session.query('SELECT 1 AS x').rows).toEqual([{ x: 1 }]);
});
