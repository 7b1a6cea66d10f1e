import { appendTexts, batchAfter, readTexts } from '@sluice/log/testing/log-fixture';
import { expect, test, vi } from 'vitest';
import { Session } from '../session/session.ts';
import { parseStoreAddress } from '../session/store-address.ts';
import { PostgresServer } from '../testing/postgres-server.ts';

const WAIT = { timeout: 60_000 };

import { TempStore } from '../testing/store-fixture.ts';

const WAITS_FOR_REPLICA = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

/** The process of the replica that receives what the primary sends. */
async function receiverOf(replica: Session): Promise<number> {
  const pid = await vi.waitFor(async () => {
    const { rows } = await replica.query<{ pid: number }>('SELECT pid FROM pg_stat_wal_receiver');
    expect(rows).toHaveLength(1);
    return rows[0].pid;
  }, WAIT);
  return pid;
}

test('a batch whose wait for the replica was ended is acknowledged when the replica has it', {
  timeout: 120_000,
}, async () => {
  const primary = await PostgresServer.start();
  const replicaServer = await primary.replica('second');
  const store = await TempStore.create(primary.address);
  const replica = await Session.open(parseStoreAddress(replicaServer.address), 'test');
  const log = await store.open({ silenceMs: 100 });
  const hold = await appendTexts(log, await log.acquire(), ['before']);
  const receiver = await receiverOf(replica);
  await store.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (second)'`);
  await store.query('SELECT pg_reload_conf()');
  await vi.waitFor(async () => {
    const { rows } = await store.query<{ sync_state: string }>(
      'SELECT sync_state FROM pg_stat_replication',
    );
    expect(rows).toEqual([{ sync_state: 'quorum' }]);
  }, WAIT);

  process.kill(receiver, 'SIGSTOP');
  const batch = batchAfter(hold, { bytes: Buffer.from('waits') });
  expect(await log.append(batch)).toBe('unknown');
  const { rows: waiting } = await vi.waitFor(async () => {
    const found = await store.query<{ pid: number }>(WAITS_FOR_REPLICA);
    expect(found.rows).toHaveLength(1);
    return found;
  });
  // The batch becomes visible by this, though no replica has it.
  await store.query('SELECT pg_terminate_backend($1)', [waiting[0].pid]);
  await vi.waitFor(async () => expect(await readTexts(log)).toEqual(['before', 'waits']), WAIT);

  const repeats = [];
  for (let round = 0; round < 4; round += 1) repeats.push(await log.append(batch));
  process.kill(receiver, 'SIGCONT');
  let last = await log.append(batch);
  while (last === 'unknown') last = await log.append(batch);

  expect(repeats).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  expect(last).toBe('duplicate');
  await primary.kill();
  await replica.query('SELECT pg_promote()');
  const { rows } = await replica.query<{ text: string }>(
    `SELECT convert_from(bytes, 'UTF8') AS text FROM ${store.address.schema}.log_0_0 ORDER BY 1`,
  );
  expect(rows.map(({ text }) => text)).toEqual(['before', 'waits']);
  await replica.end();
  await log.close();
  await primary.stop();
});
