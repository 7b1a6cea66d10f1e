import { LogCorruptError, LogTrimmedError } from '@sluice/log';
import { appendTexts, batchAfter, readTexts } from '@sluice/log/testing/log-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Session } from '../session/session.ts';
import { TempStore } from '../testing/store-fixture.ts';
import type { PostgresLog } from './postgres-log.ts';

let store: TempStore;
let log: PostgresLog;
beforeEach(async () => {
  store = await TempStore.create();
  log = await store.open({ segmentBytes: 1 });
});
afterEach(() => store.dispose());

async function tables(): Promise<string[]> {
  const { rows } = await store.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'log\\_%'
     ORDER BY substr(tablename, 7)::int`,
    [store.address.schema],
  );
  return rows.map(({ name }) => name);
}

/** Appends numbered texts until the log has used three segments. */
async function fillThree(): Promise<{ epoch: number; tail: number }> {
  let hold: { epoch: number; tail: number } = await log.acquire();
  for (;;) {
    const { count } = await store.query('SELECT 1 FROM $schema.segment');
    if (count >= 3) return hold;
    hold = await appendTexts(log, hold, [`text ${hold.tail}`]);
  }
}

const SECOND_SEGMENT = 'SELECT first_record FROM $schema.segment WHERE number = 1';

const textsFrom = (from: number, tail: number) =>
  Array.from({ length: tail - from }, (_, index) => `text ${from + index}`);

test('a log in many tables is one log', async () => {
  const { tail } = await fillThree();

  expect(await readTexts(log)).toEqual(textsFrom(0, tail));
  expect(await readTexts(await store.open(), tail - 1)).toEqual([`text ${tail - 1}`]);
});

test('a trim drops whole tables and returns their space', async () => {
  const { epoch, tail } = await fillThree();

  await log.trim({ epoch, upTo: tail });

  const [oldest] = await tables();
  const { rows } = await store.query('SELECT number FROM $schema.segment');
  expect(rows).toEqual([{ number: 2 }]);
  expect(oldest).toBe('log_0_2');
});

test('a table that is being dumped is trimmed later', async () => {
  const { epoch, tail } = await fillThree();
  const dump = await Session.open(store.address, 'dump');
  await dump.query('BEGIN');
  await dump.query(`LOCK TABLE ${store.address.schema}.log_0_0 IN ACCESS SHARE MODE`);

  expect(await log.trim({ epoch, upTo: tail })).toBe('ok');
  expect(await tables()).toContain('log_0_0');
  await expect(readTexts(log)).rejects.toThrow(LogTrimmedError);
  await dump.query('COMMIT');
  await dump.end();
  await log.trim({ epoch, upTo: tail });

  expect(await tables()).not.toContain('log_0_0');
});

test('a batch that comes when its table was dropped is fenced', async () => {
  const late = await store.open();
  const first = await late.acquire();
  const next = await fillThree();
  await log.trim({ epoch: next.epoch, upTo: next.tail });

  expect(await late.append(batchAfter(first))).toBe('fenced');

  expect(await readTexts(log, next.tail)).toEqual([]);
});

test('nothing lands any more in a segment that the log has left', async () => {
  const { epoch } = await log.acquire();
  const late = await store.open();
  expect(await late.append(batchAfter({ epoch, tail: 7 }))).toBe('fenced');
  let tail = 0;
  let second = await store.query<{ first_record: string }>(SECOND_SEGMENT);
  for (; second.count === 0; second = await store.query(SECOND_SEGMENT)) {
    ({ tail } = await appendTexts(log, { epoch, tail }, [`text ${tail}`]));
  }

  const place = { epoch, tail: Number(second.rows[0].first_record) };

  expect(await late.append(batchAfter(place))).toBe('fenced');
  expect(await readTexts(log)).toEqual(textsFrom(0, tail));
});

test('a read whose table is dropped says where the log starts', async () => {
  const { epoch, tail } = await fillThree();
  const seen: string[] = [];

  const reading = log.read(0, ({ bytes }) => seen.push(Buffer.from(bytes).toString()));
  const [outcome] = await Promise.allSettled([reading, log.trim({ epoch, upTo: tail })]);

  expect(seen).toEqual(textsFrom(0, seen.length));
  if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(LogTrimmedError);
  else expect(seen).toHaveLength(tail);
});

test('while the next table cannot be made, the current one grows', async () => {
  await store.query(`CREATE FUNCTION $schema.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_query() LIKE '%"$schema".log_0_1 %' THEN RAISE EXCEPTION 'no'; END IF;
    END $$`);
  await store.query(`CREATE EVENT TRIGGER refuse_$schema ON ddl_command_start
    WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION $schema.refuse()`);

  await appendTexts(log, await log.acquire(), textsFrom(0, 8));

  await store.query('DROP EVENT TRIGGER refuse_$schema');
  expect(await tables()).toEqual(['log_0_0']);
  expect(await readTexts(log)).toEqual(textsFrom(0, 8));
});

test.each([
  ['a changed byte', `UPDATE $schema.log_0_0 SET bytes = 'other' WHERE first_record = 1`],
  ['a moved batch', 'UPDATE $schema.log_0_0 SET epoch = epoch + 1 WHERE first_record = 1'],
  ['a missing batch', 'DELETE FROM $schema.log_0_0 WHERE first_record = 1'],
])('%s is noticed by the reader', async (_, damage) => {
  const whole = await store.open();
  await appendTexts(whole, await whole.acquire(), ['a', 'b', 'c']);
  await store.query(damage);

  const reading = readTexts(whole);

  await expect(reading).rejects.toThrow(LogCorruptError);
  await expect(reading).rejects.toMatchObject({ record: 1 });
});

test('a missing table is noticed by the reader', async () => {
  await fillThree();
  await store.query('DROP TABLE $schema.log_0_1');

  await expect(readTexts(log)).rejects.toThrow('the table is gone');
});

test('a read of a log that is larger than one answer is complete', async () => {
  const whole = await store.open();
  const texts = Array.from({ length: 12 }, (_, index) => `${index} `.repeat(300_000));
  await appendTexts(whole, await whole.acquire(), texts);

  const lengths = (await readTexts(whole)).map((text) => text.length);

  expect(lengths).toEqual(texts.map((text) => text.length));
});
