import type { AppendOutcome, BoundedLog, LogBatch, LogHold } from '@sluice/log';
import { batchAfter } from '@sluice/log/testing/log-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TempStore } from '../testing/store-fixture.ts';

const HOLDERS = 4;
const CLAIMS_EACH = 40;
const APPENDS_PER_CLAIM = 6;

/** A batch that some holder was told is durable. */
interface Acknowledged {
  readonly nonce: number;
  readonly firstRecord: number;
}

/** What the holders were told. */
interface Told {
  readonly acknowledged: Acknowledged[];
  readonly holds: LogHold[];
}

let store: TempStore;
beforeEach(async () => {
  store = await TempStore.create();
});
afterEach(() => store.dispose());

/** What the database has, in the order of the log, by plain SQL. */
async function storedBatches(): Promise<readonly Record<string, string>[]> {
  const tables = await store.query<{ name: string }>(
    `SELECT 'log_0_' || number AS name FROM $schema.segment ORDER BY number`,
  );
  const selects = tables.rows.map(
    ({ name }) => `SELECT first_record, record_count, epoch, nonce FROM $schema.${name}`,
  );
  const { rows } = await store.query<Record<string, string>>(
    `SELECT *, lag(first_record + record_count, 1, 0::bigint) OVER log AS follows,
       lag(epoch, 1, 0::bigint) OVER log AS epoch_before
     FROM (${selects.join(' UNION ALL ')}) batches WINDOW log AS (ORDER BY first_record)
     ORDER BY first_record`,
  );
  return rows;
}

/**
 * One chain without gaps, epochs that only grow, each acknowledged batch once in its place, and
 * nothing of an earlier epoch behind the tail that a holder got.
 */
async function expectOneChain({ acknowledged, holds }: Told): Promise<void> {
  const rows = await storedBatches();
  expect(rows.filter((row) => row.first_record !== row.follows)).toEqual([]);
  expect(rows.filter((row) => Number(row.epoch) < Number(row.epoch_before))).toEqual([]);
  const places = new Map(rows.map((row) => [Number(row.nonce), Number(row.first_record)]));
  expect(places.size).toBe(rows.length);
  const lost = acknowledged.filter(({ nonce, firstRecord }) => places.get(nonce) !== firstRecord);
  expect(lost).toEqual([]);
  expect(new Set(acknowledged.map(({ nonce }) => nonce)).size).toBe(acknowledged.length);
  const overtaken = holds.filter((hold) =>
    rows.some((row) => Number(row.first_record) >= hold.tail && Number(row.epoch) < hold.epoch),
  );
  expect(overtaken).toEqual([]);
}

/** Takes the log again and again, and appends until somebody else has taken it. */
async function race(logs: readonly BoundedLog[], told: Told): Promise<AppendOutcome[]> {
  const outcomes: AppendOutcome[] = [];
  for (let claim = 0; claim < CLAIMS_EACH; claim += 1) {
    const hold = await logs[0].acquire();
    told.holds.push(hold);
    let { tail } = hold;
    for (let count = 0; count < APPENDS_PER_CLAIM; count += 1) {
      const batch = batchAfter({ epoch: hold.epoch, tail }, { recordCount: 1 + (count % 3) });
      const answers = await Promise.all(logs.map((log) => appendUntilDefinite(log, batch)));
      outcomes.push(...answers);
      if (!answers.some((answer) => answer === 'ok' || answer === 'duplicate')) break;
      told.acknowledged.push({ nonce: batch.nonce, firstRecord: tail });
      tail += batch.recordCount;
    }
  }
  return outcomes;
}

async function appendUntilDefinite(log: BoundedLog, batch: LogBatch): Promise<AppendOutcome> {
  for (;;) {
    const outcome = await log.append(batch);
    if (outcome !== 'unknown') return outcome;
  }
}

test('four holders that send everything twice leave one chain and lose nothing', async () => {
  const told: Told = { acknowledged: [], holds: [] };
  const holders = await Promise.all(
    Array.from({ length: HOLDERS }, async () => [await store.open(), await store.open()]),
  );

  const outcomes = await Promise.all(holders.map((logs) => race(logs, told)));

  const all = new Set(outcomes.flat());
  expect(all).toEqual(new Set(['ok', 'duplicate', 'fenced']));
  await expectOneChain(told);
});

test('four holders that go on in new segments all the time leave one chain', async () => {
  const told: Told = { acknowledged: [], holds: [] };
  const holders = await Promise.all(
    Array.from({ length: HOLDERS }, () => store.open({ segmentBytes: 1 })),
  );

  await Promise.all(holders.map((log) => race([log], told)));

  const segments = await store.query('SELECT 1 FROM $schema.segment');
  expect(segments.count).toBeGreaterThan(1);
  await expectOneChain(told);
});
