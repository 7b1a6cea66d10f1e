import { LogFailedError } from '@sluice/log';
import { appendTexts, batchAfter, readTexts } from '@sluice/log/testing/log-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Session } from '../session/session.ts';
import { parseStoreAddress } from '../session/store-address.ts';
import { CuttingProxy } from '../testing/cutting-proxy.ts';
import { PostgresServer } from '../testing/postgres-server.ts';
import { TempStore } from '../testing/store-fixture.ts';
import { PostgresLog } from './postgres-log.ts';

/** An append without an answer for this long is repeated. */
const SILENCE_MS = 300;

let store: TempStore;
beforeEach(async () => {
  store = await TempStore.create();
});
afterEach(() => store.dispose());

/** The next batch that is stored fails with this code; the ones after it do not. */
async function failOnce(code: string): Promise<void> {
  await store.query('CREATE SEQUENCE $schema.failed');
  await store.query(`CREATE FUNCTION $schema.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('$schema.failed') = 1 THEN
      RAISE EXCEPTION 'on purpose' USING ERRCODE = '${code}';
    END IF;
    RETURN NEW;
  END $$`);
  await store.query(`CREATE TRIGGER fail BEFORE INSERT ON $schema.log_0_0
    FOR EACH ROW EXECUTE FUNCTION $schema.fail()`);
}

test.each([
  ['08006', 'unknown'],
  ['25006', 'unknown'],
  ['40001', 'unknown'],
  ['40P01', 'unknown'],
  ['53300', 'unknown'],
  ['57P01', 'unknown'],
  ['53100', 'full'],
])('an append that fails with %s is %s and lands when it is repeated', async (code, outcome) => {
  const log = await store.open();
  const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('once') });
  await failOnce(code);

  expect(await log.append(batch)).toBe(outcome);

  expect(await log.append(batch)).toBe('ok');
  expect(await readTexts(log)).toEqual(['once']);
});

test('an append that fails in any other way ends the log', async () => {
  const log = await store.open();
  const batch = batchAfter(await log.acquire());
  await failOnce('22012');

  await expect(log.append(batch)).rejects.toThrow(LogFailedError);

  await expect(log.append(batch)).rejects.toThrow('accepts nothing more (on purpose)');
});

/** A log whose connections go through a proxy. */
function openBehind(proxy: CuttingProxy): Promise<PostgresLog> {
  return PostgresLog.open({ address: parseStoreAddress(proxy.address), silenceMs: SILENCE_MS });
}

test.each([
  ['before the statement', 'ok'],
  ['before the answer', 'duplicate'],
] as const)('a connection cut %s: the repeat is %s on another one', async (place, repeat) => {
  const proxy = await CuttingProxy.startBefore(store.text);
  const log = await openBehind(proxy);
  const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('marked') });
  proxy.breakNext(place, 'marked');

  const outcomes = [await log.append(batch), await log.append(batch)];

  expect(outcomes).toEqual(['unknown', repeat]);
  expect(await readTexts(log)).toEqual(['marked']);
  await log.close();
  await proxy.stop();
});

test.each(['both', 'statements', 'answers', 'reset'] as const)(
  'an append that meets a cut (%s) lands once, though it was repeated',
  async (cut) => {
    const proxy = await CuttingProxy.startBefore(store.text);
    const log = await openBehind(proxy);
    const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('marked') });
    const met = proxy.cutNext(cut, 'marked');

    const during = [await log.append(batch), await log.append(batch)];
    await met;
    const held = proxy.heldBytes;
    const landed = await store.query("SELECT 1 FROM $schema.log_0_0 WHERE bytes = 'marked'");
    proxy.heal();
    let last = await log.append(batch);
    while (last === 'unknown') last = await log.append(batch);

    expect(during).toEqual(['unknown', 'unknown']);
    expect(held > 0).toBe(cut !== 'reset');
    expect(landed.count).toBe(cut === 'answers' ? 1 : 0);
    expect(['ok', 'duplicate']).toContain(last);
    expect(await readTexts(log)).toEqual(['marked']);
    await log.close();
    await proxy.stop();
  },
);

test('an append that was held back lands nowhere once another owner claimed', async () => {
  const proxy = await CuttingProxy.startBefore(store.text);
  const log = await openBehind(proxy);
  const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('marked') });
  const met = proxy.cutNext('statements', 'marked');
  expect(await log.append(batch)).toBe('unknown');
  await met;
  const next = await store.open();
  await appendTexts(next, await next.acquire(), ['of the next owner']);

  proxy.heal();
  let last = await log.append(batch);
  while (last === 'unknown') last = await log.append(batch);

  expect(last).toBe('fenced');
  expect(await readTexts(next)).toEqual(['of the next owner']);
  await log.close();
  await next.close();
  await proxy.stop();
});

test('an append that is not answered is sent twice at the most', async () => {
  const log = await store.open({ silenceMs: 30 });
  const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('late') });
  const blocker = await Session.open(store.address, 'blocker');
  await blocker.query('BEGIN');
  await blocker.query(`SELECT 1 FROM ${store.address.schema}.partition FOR UPDATE`);

  const outcomes = [];
  for (let round = 0; round < 5; round += 1) outcomes.push(await log.append(batch));
  const waiting = await store.query(
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%log_0_0%'
     AND query LIKE '%' || $1 || '%'`,
    [store.address.schema],
  );
  await blocker.query('COMMIT');
  let last = await log.append(batch);
  while (last === 'unknown') last = await log.append(batch);

  expect(outcomes).toEqual(Array.from({ length: 5 }, () => 'unknown'));
  expect(waiting.count).toBe(2);
  expect(['ok', 'duplicate']).toContain(last);
  expect(await readTexts(log)).toEqual(['late']);
  await blocker.end();
});

test('copies whose connection is gone make room for another one', async () => {
  const log = await store.open({ silenceMs: 30 });
  const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('at last') });
  const blocker = await Session.open(store.address, 'blocker');
  await blocker.query('BEGIN');
  await blocker.query(`SELECT 1 FROM ${store.address.schema}.partition FOR UPDATE`);
  for (let round = 0; round < 3; round += 1) expect(await log.append(batch)).toBe('unknown');

  await store.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
    [`${store.address.schema}".log_0_0`],
  );
  await blocker.query('COMMIT');

  let last = await log.append(batch);
  while (last === 'unknown') last = await log.append(batch);
  expect(last).toBe('ok');
  expect(await readTexts(log)).toEqual(['at last']);
  await blocker.end();
});

test('a log goes on after its database was killed and came back', async () => {
  const server = await PostgresServer.start();
  const other = await TempStore.create(server.address);
  const log = await other.open({ silenceMs: 200 });
  const hold = await appendTexts(log, await log.acquire(), ['before']);
  const batch = batchAfter(hold, { bytes: Buffer.from('after') });

  await server.kill();
  const away = await log.append(batch);
  await server.resume();
  let back = await log.append(batch);
  while (back === 'unknown') back = await log.append(batch);

  expect(away).toBe('unknown');
  expect(back).toBe('ok');
  expect(await readTexts(log)).toEqual(['before', 'after']);
  await log.close();
  await server.stop();
});
