import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { runSluice } from '../support/sluice-command.ts';

const HALTED = /the database went back in time, and acknowledged work is missing/;

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
  const lost = await client.submit('mail', 2);
  // As a restore to an earlier time does.
  await store.query(`DELETE FROM $schema.log_0_0
    WHERE first_record = (SELECT max(first_record) FROM $schema.log_0_0)`);
  await store.query('UPDATE $schema.mark SET position = 0');

  const submitting = client.submit('mail', 3).catch(({ code }: { code: string }) => code);
  await Promise.all(cluster.servers.map((server) => server.printed(HALTED)));
  const early = await runSluice(['cluster', 'status', '--store', store.text]);
  expect(early.stdout).toContain('standby');
  const accepted = await acceptedLoss();

  expect(accepted).toBe('accepted: 1 tasks are there, 0 of them are queued again\n');
  await cluster.owner();
  await submitting;
  expect(await client.tasks.get(kept.id)).toMatchObject({ state: 'queued', input: 1 });
  const after = await client.submit('mail', 4);
  expect(after.id).not.toBe(lost.id);
  expect(await client.tasks.get(after.id)).toMatchObject({ state: 'queued', input: 4 });
});

/** The hold of the owner that halted has to run out first. */
async function acceptedLoss(): Promise<string> {
  for (;;) {
    const { code, stdout, stderr } = await runSluice([
      'cluster',
      'accept-loss',
      '--store',
      store.text,
    ]);
    if (code === 0) return stdout;
    expect(stderr).toContain('a server owns the partition in this store');
  }
}
