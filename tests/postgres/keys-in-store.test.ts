import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { KeyedApi } from '../support/keyed-api.ts';
import { runSluice } from '../support/sluice-command.ts';

let store: TempStore;
let cluster: ClusterProcesses | undefined;

beforeEach(async () => {
  store = await TempStore.create();
});

afterEach(async () => {
  await cluster?.dispose();
  cluster = undefined;
  await store.dispose();
});

function createKey(role: string) {
  const flags = ['--role', role, '--name', 'first', '--in-store', '--store', store.text];
  return runSluice(['key', 'create', ...flags, '--json']);
}

test('a key that was made in the store opens every server, and nothing opens without', async () => {
  const created = await createKey('admin');
  expect(created.code).toBe(0);
  const { key } = JSON.parse(created.stdout) as { key: string };
  cluster = await ClusterProcesses.start(store.text, 2);
  const servers = [await cluster.owner(), await cluster.standby()];

  for (const { url } of servers) {
    expect((await new KeyedApi(url).post('/v1/tasks', { type: 'a' })).status).toBe(401);
    const api = new KeyedApi(url, key);
    expect((await api.post('/v1/tasks', { type: 'a' })).status).toBe(201);
    const other = await api.keyFor('viewer', 'default');
    for (const each of servers) {
      const viewer = new KeyedApi(each.url, other);
      expect((await viewer.get('/v1/tasks')).status).toBe(200);
      expect((await viewer.post('/v1/tasks', { type: 'a' })).status).toBe(403);
    }
  }
});

test('while a server owns the partition, keys are made through it', async () => {
  cluster = await ClusterProcesses.start(store.text, 1);

  const { code, stderr } = await createKey('admin');

  expect(code).not.toBe(0);
  expect(stderr).toContain('a server owns the partition in this store; create the key through it');
});
