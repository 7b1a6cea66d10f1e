import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { batchChecksum } from '../../packages/postgres/src/log/batch-checksum.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const HALTED = /the database went back in time, and acknowledged work is missing/;

const TIMEOUT_MS = 60_000;

let store: TempStore;
let cluster: ClusterProcesses;
let client: Sluice;

beforeEach(async () => {
  store = await TempStore.create();
  cluster = await ClusterProcesses.start(store.text, 2);
  client = new Sluice({ url: cluster.servers.map(({ url }) => url) });
});

afterEach(async () => {
  await client.close();
  await cluster.dispose();
  await store.dispose();
});

test('a database that went back halts all servers, until somebody accepts the loss', async () => {
  const kept = await client.submit('mail', 1);
  const position = await lastBatch();
  const lost = await client.submit('mail', 2);
  await goBackTo(position);

  const submitting = client.submit('mail', 3).catch(({ code }: { code: string }) => code);
  await Promise.all(cluster.servers.map((server) => server.printed(HALTED)));
  const early = await halted(2);
  expect(early.stdout).toContain('halted');
  for (const { url } of cluster.servers) {
    const why =
      'has halted, because the database went back in time and acknowledged work is missing';
    expect(early.stdout).toContain(`PROBLEM: ${url} ${why}: `);
  }
  const accepted = await acceptedLoss();

  expect(accepted).toBe('accepted: 1 tasks are there, 0 of them are queued again\n');
  await cluster.owner();
  await submitting;
  expect(await client.tasks.get(kept.id)).toMatchObject({ state: 'queued', input: 1 });
  const after = await client.submit('mail', 4);
  expect(after.id).not.toBe(lost.id);
  expect(await client.tasks.get(after.id)).toMatchObject({ state: 'queued', input: 4 });
  await halted(0);
});

test('a task that ran is queued again when the loss is accepted', async () => {
  const gate = Promise.withResolvers<number>();
  const held = defineTask({ type: 'held', run: () => gate.promise });
  await client.work([held], { handleSignals: false, onNotice: () => undefined });
  const task = await client.submit(held, undefined);
  const isRunning = async () => (await client.tasks.get(task.id)).state === 'running';
  await waitUntil(isRunning, { what: 'the task runs', timeoutMs: TIMEOUT_MS });
  const position = await lastBatch();
  await client.submit('mail', 1);
  await goBackTo(position);

  const submitting = client.submit('mail', 2).catch(() => undefined);
  await Promise.all(cluster.servers.map((server) => server.printed(HALTED)));
  const accepted = await acceptedLoss();
  gate.resolve(5);

  expect(accepted).toBe('accepted: 1 tasks are there, 1 of them are queued again\n');
  expect(await task.result({ timeoutMs: TIMEOUT_MS })).toBe(5);
  await submitting;
});

test('a standby that finds another last batch halts, and takes nothing over', async () => {
  const owner = await cluster.owner();
  const standby = await cluster.standby();
  const kept = await client.submit('mail', 1);
  const tail = await lastBatch();
  const hasRead = async () => {
    const { servers } = JSON.parse((await inCluster('status', '--json')).stdout);
    return servers.every(({ position }: { position: number }) => position > tail);
  };
  await waitUntil(hasRead, { what: 'the standby has the batch', timeoutMs: TIMEOUT_MS });
  await replaceBatch(tail);

  await standby.printed(HALTED);
  const { stdout } = await halted(1);
  expect(stdout).toContain(`the batch at record ${tail} is another one`);
  await cluster.kill(owner);
  const accepted = await acceptedLoss();

  expect(accepted).toBe('accepted: 1 tasks are there, 0 of them are queued again\n');
  expect(await cluster.owner()).toBe(standby);
  expect(await client.tasks.get(kept.id)).toMatchObject({ state: 'queued', input: 1 });
});

function inCluster(command: string, ...flags: string[]) {
  return runSluice(['cluster', command, ...flags, '--store', store.text]);
}

/** The status that names this many servers that have halted. */
async function halted(count: number): ReturnType<typeof inCluster> {
  let said = await inCluster('status');
  const areNamed = async () => {
    said = await inCluster('status');
    return said.stdout.split('PROBLEM: ').length === count + 1;
  };
  await waitUntil(areNamed, { what: 'the status names the halt', timeoutMs: TIMEOUT_MS });
  return said;
}

/** The first record of the last batch. */
async function lastBatch(): Promise<number> {
  const { rows } = await store.query<{ first: number }>(
    'SELECT max(first_record)::int AS first FROM $schema.log_0_0',
  );
  return rows[0].first;
}

/** As a restore to an earlier time does. */
async function goBackTo(batch: number): Promise<void> {
  await store.query('DELETE FROM $schema.log_0_0 WHERE first_record > $1', [batch]);
  await store.query('UPDATE $schema.mark SET position = 0');
}

/** As if the database had gone back, and a server that knew nothing of it had written since. */
async function replaceBatch(first: number): Promise<void> {
  const { rows } = await store.query<{ count: number; epoch: number; bytes: Buffer }>(
    `SELECT record_count::int AS count, epoch::float8 AS epoch, bytes
     FROM $schema.log_0_0 WHERE first_record = $1`,
    [first],
  );
  const [{ count: recordCount, epoch, bytes }] = rows;
  const other = { firstRecord: first, recordCount, epoch: epoch - 1, nonce: 7, bytes };
  await store.query(
    'UPDATE $schema.log_0_0 SET epoch = $2, nonce = $3, crc = $4 WHERE first_record = $1',
    [first, other.epoch, other.nonce, batchChecksum(other)],
  );
}

/** The hold of the owner that halted has to run out first. */
async function acceptedLoss(): Promise<string> {
  for (;;) {
    const { code, stdout, stderr } = await inCluster('accept-loss');
    if (code === 0) return stdout;
    expect(stderr).toContain('a server owns the partition in this store');
  }
}
