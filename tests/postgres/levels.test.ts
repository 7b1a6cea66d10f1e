/** Servers are replaced by newer ones and back, until somebody raises the level (level.waits). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEVEL } from '@sluice/core';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { makeNewerCopy } from '../support/newer-copy.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;

let folder: string;
let store: TempStore;
let cluster: ClusterProcesses;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-levels-'));
  store = await TempStore.create();
  cluster = await ClusterProcesses.start(store.text, 1);
});

afterEach(async () => {
  await cluster.dispose();
  await store.dispose();
  await rm(folder, { recursive: true });
});

/** The command with the store of this test. */
function inCluster(...args: string[]) {
  return runSluice([...args, '--store', store.text]);
}

async function submit(): Promise<string> {
  const [{ url }] = cluster.servers;
  const sluice = new Sluice({ url, onWarning: () => undefined });
  const { id } = await sluice.submit('some', null);
  await sluice.close();
  return id;
}

test('newer servers join, take over and hand back, and the level bars the way back', async () => {
  const [older] = cluster.servers;
  const acknowledged = [await submit()];
  const args = ['server', '--port', '0', '--data', join(folder, 'data'), '--store', store.text];
  const command = makeNewerCopy(folder);
  const newer = await ServerProcess.start({ command, args });
  cluster.servers.push(newer);
  await readyAt(newer.url);

  await inCluster('cluster', 'hand-off');
  await ownerIs(newer);
  acknowledged.push(await submit());
  await readyAt(older.url);
  await inCluster('cluster', 'hand-off');
  await ownerIs(older);
  acknowledged.push(await submit());

  const refused = await inCluster('cluster', 'raise-level');
  expect(refused.stdout).toContain(`the level stays ${LEVEL}: ${older.url}`);
  await cluster.stop(older);
  await cluster.owner();
  const raised = await inCluster('cluster', 'raise-level');
  expect(raised.stdout).toContain(`raised from level ${LEVEL} to ${LEVEL + 1}`);
  acknowledged.push(await submit());

  const tooNew = `is at level ${LEVEL + 1}, and this version knows ${LEVEL}`;
  await expect(cluster.add()).rejects.toThrow(tooNew);
  for (const id of acknowledged) {
    const answer = await fetch(`${newer.url}/v1/tasks/${id}`);
    expect(answer.status).toBe(200);
  }
});

/** The server could take over now. */
async function readyAt(url: string): Promise<void> {
  const isReady = async () => (await fetch(`${url}/health/ready`)).status === 200;
  await waitUntil(isReady, { what: 'the standby has read the log', timeoutMs: TIMEOUT_MS });
}

async function ownerIs(server: ServerProcess): Promise<void> {
  const isOwner = async () => (await cluster.owner()) === server;
  await waitUntil(isOwner, { what: 'the other server owns it', timeoutMs: TIMEOUT_MS });
}
