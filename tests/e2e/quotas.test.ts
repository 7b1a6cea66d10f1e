import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from '@sluice/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';

const BLOB = Buffer.alloc(1024 * 1024, 'x');

let folder: string;
let server: Server;
let admin: KeyedApi;
let shop: KeyedApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-quotas-'));
  server = await Server.start({
    host: '127.0.0.1',
    port: 0,
    dataFolder: folder,
    version: 'test',
    quotas: { tasksMax: 2, taskTypesMax: 2, blobBytesMax: BLOB.length, waitsMax: 1 },
    onFatal: (cause) => {
      throw cause;
    },
  });
  const nobody = new KeyedApi(server.url);
  admin = nobody.as(await nobody.keyFor('admin', 'default'));
  shop = admin.as(await admin.keyFor('admin', 'shop'));
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

test('a namespace that used up its tasks gets 429 that names the quota', async () => {
  await shop.post('/v1/tasks', [{ type: 'a' }, { type: 'a' }]);

  const refused = await shop.post('/v1/tasks', { type: 'a' });
  const taken = await admin.post('/v1/tasks', { type: 'a' });

  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(refused.body.error.message).toContain('quotas.tasksMax (2)');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(taken.status).toBe(201);
});

test('a retry beyond the quota gets 429 that names it; dead letters count already', async () => {
  const print = admin.as(await admin.keyFor('admin', 'print'));
  const { body: items } = await print.post('/v1/tasks', [{ type: 'a' }, { type: 'a' }]);
  const [first, second] = items.items.map(({ id }: { id: string }) => id);
  await print.post(`/v1/tasks/${first}/cancel`, {});
  await print.post(`/v1/tasks/${second}/fail`, { error: { message: 'no' } });
  await print.post('/v1/tasks', { type: 'a' });

  const refused = await print.post(`/v1/tasks/${first}/retry`, {});
  const many = await print.post('/v1/tasks/retry', { ids: [first, second] });

  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(refused.body.error.message).toContain('quotas.tasksMax (2)');
  expect(many.body.items).toMatchObject([{ error: { code: 'quota_exceeded' } }, { ok: true }]);
});

test('/v1/cluster shows the use and the bound of each quota of the namespace', async () => {
  const { body } = await shop.get('/v1/cluster');

  expect(body.quotas).toMatchObject({
    tasksMax: { used: 2, max: 2 },
    taskTypesMax: { used: 1, max: 2 },
    sessionsMax: { used: 0 },
    waitsMax: { used: 0, max: 1 },
    blobBytesMax: { used: 0, max: BLOB.length },
  });
});

test('/metrics shows them for every namespace', async () => {
  const headers = { authorization: `Bearer ${admin.key}` };
  const page = await (await fetch(`${server.url}/metrics`, { headers })).text();

  expect(page).toContain('sluice_quota_max{quota="tasksMax"} 2\n');
  expect(page).toContain('sluice_quota_used{namespace="shop",quota="tasksMax"} 2\n');
});

test('a blob beyond the quota of its namespace is refused', async () => {
  const put = (body: Buffer) =>
    fetch(`${server.url}/v1/blobs/${createHash('sha256').update(body).digest('hex')}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${shop.key}` },
      body: new Uint8Array(body),
    });
  expect((await put(BLOB)).status).toBe(200);

  const refused = await put(Buffer.from('"one more"'));

  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'quota_exceeded' } });
});

test('task types that are registered count, too', async () => {
  const define = (type: string) =>
    shop.call({ method: 'PUT', path: `/v1/task-types/${type}`, body: { priority: 5 } });
  await define('b');
  await define('c');

  const refused = await define('d');

  expect(refused.body.error.code).toBe('quota_exceeded');
  expect(refused.body.error.message).toContain('quotas.taskTypesMax (2)');
});
