import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mayCall, ROLES, ROUTES, type Role, type Route, type RouteName } from '@sluice/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ACCESS_MATRIX } from './access-calls.ts';
import { sha256Of } from './blob-client.ts';

const NAMES = Object.keys(ROUTES) as RouteName[];
const LIST = NAMES.map((name) => ({ name, route: ROUTES[name] as Route }));
const CLOSED = LIST.filter(({ route }) => route.access !== 'open');

let folder: string;
let server: ServerProcess;
let admin: KeyedApi;
/** An admin of the namespace in which objects are created. */
let shop: KeyedApi;
const keys = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  const nobody = new KeyedApi(server.url);
  admin = nobody.as(await nobody.keyFor('admin', 'default'));
  for (const namespace of ['shop', 'elsewhere']) {
    for (const role of ROLES) {
      keys.set(`${role} of ${namespace}`, await admin.keyFor(role, namespace));
    }
  }
  shop = nobody.as(keys.get('admin of shop'));
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

function holderOf(role: Role, namespace: 'shop' | 'elsewhere'): KeyedApi {
  return admin.as(keys.get(`${role} of ${namespace}`));
}

async function recordCount(): Promise<number> {
  const { body } = await admin.get('/v1/audit?limit=1');
  return Number(body.items[0].id.slice(2));
}

describe.each(LIST)('$name', ({ name, route }) => {
  const { method, access } = route;

  test.each(ROLES)('a %s of the namespace', async (role) => {
    const { call, own } = await ACCESS_MATRIX[name](shop);

    const { status, body } = await holderOf(role, 'shop').call({ method, ...call });

    if (mayCall([role], access)) expect(status, JSON.stringify(body)).toBe(own);
    else expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' });
  });

  test.each(ROLES)('a %s of another namespace', async (role) => {
    const { call, foreign } = await ACCESS_MATRIX[name](shop);

    const { status, body } = await holderOf(role, 'elsewhere').call({ method, ...call });

    if (!mayCall([role], access)) expect(body.error.code).toBe('forbidden');
    else if ('code' in foreign) expect(body.error.code).toBe(foreign.code);
    else {
      expect(status).toBeLessThan(300);
      // A stream has no body here.
      expect(JSON.stringify(body ?? null)).not.toContain(foreign.hides);
    }
  });
});

test('what another namespace may not see is there for its own', async () => {
  for (const { name, route } of LIST) {
    const { call, foreign } = await ACCESS_MATRIX[name](shop);
    if (!('hides' in foreign) || foreign.hides === 'shop') continue;
    const { body } = await shop.call({ method: route.method, ...call });
    // These answers contain only the states of the tasks, and a log-in never shows the key.
    if (!['patchTasks', 'cancelTasks', 'retryTasks', 'logIn'].includes(name)) {
      expect(JSON.stringify(body), name).toContain(foreign.hides);
    }
  }
});

const CHANGES = CLOSED.filter(
  ({ route }) => ['operate', 'administer'].includes(route.access) && route.method !== 'GET',
);

test.each(CHANGES)('$name leaves one audit record, and none when it is refused', async (each) => {
  const { call } = await ACCESS_MATRIX[each.name](shop);
  const { method } = each.route;
  const before = await recordCount();

  await holderOf('viewer', 'shop').call({ method, ...call });
  const { status } = await shop.call({ method, ...call });

  expect(status).toBeLessThan(300);
  expect(await recordCount()).toBe(before + 1);
  const [record] = (await admin.get('/v1/audit?limit=1')).body.items;
  expect(record).toMatchObject({ namespace: 'shop', address: '127.0.0.1' });
  expect(record.actor).toBe(`k_${shop.key?.slice(4, 24)}`);
  expect(record.requestId).toMatch(/^q_/);
});

test.each(CLOSED.filter((each) => !CHANGES.includes(each)))(
  '$name leaves no audit record',
  async ({ name, route }) => {
    const { call } = await ACCESS_MATRIX[name](shop);
    const before = await recordCount();

    await shop.call({ method: route.method, ...call });

    expect(await recordCount()).toBe(before);
  },
);

test('what is about the whole server takes a key of the default namespace', async () => {
  const viewer = admin.as(await admin.keyFor('viewer', 'default'));
  const worker = admin.as(await admin.keyFor('worker', 'default'));

  expect((await viewer.get('/metrics')).status).toBe(200);
  expect((await worker.get('/metrics')).status).toBe(403);
  expect((await shop.get('/metrics')).status).toBe(403);
  expect((await admin.as(undefined).get('/openapi.json')).status).toBe(200);
});

test('asking for the head of an answer takes as much as asking for the answer', async () => {
  for (const { name, route } of CLOSED.filter((each) => each.route.method === 'GET')) {
    const status = mayCall(['worker'], route.access) ? 200 : 403;
    const { call } = await ACCESS_MATRIX[name](shop);

    const head = { method: 'HEAD', ...call };

    expect((await admin.as(undefined).call(head)).status, name).toBe(401);
    expect((await holderOf('worker', 'shop').call(head)).status, name).toBe(status);
  }
});

test('an address that leads nowhere is only told to those who have a key', async () => {
  expect((await admin.as(undefined).get('/v1/nothing')).status).toBe(401);
  expect((await holderOf('worker', 'shop').get('/v1/nothing')).status).toBe(404);
  const method = 'PUT';
  expect((await holderOf('worker', 'shop').call({ method, path: '/v1/tasks' })).status).toBe(405);
});

// Tests with new keys must come before this one. After it, the address has failed too often for
// keys that it has not used before.
test.each(CLOSED)('$name is refused without a key, and with one that is none', async (each) => {
  const { call } = await ACCESS_MATRIX[each.name](shop);
  const { method } = each.route;

  const without = await admin.as(undefined).call({ method, ...call });
  expect([without.status, without.body.error.code]).toEqual([401, 'unauthenticated']);
  expect(without.headers.get('www-authenticate')).toBe('Bearer');

  for (const key of ['slk_0', `${shop.key?.slice(0, -4)}0000`]) {
    const { status, headers, body } = await admin.as(key).call({ method, ...call });

    // Wrong keys count as guesses. An address that guesses too often is rejected.
    const refusals = [
      [401, 'unauthenticated', 'Bearer', null],
      [429, 'too_many_failures', null, '1'],
    ];
    const found = ['www-authenticate', 'retry-after'].map((name) => headers.get(name));
    expect(refusals).toContainEqual([status, body.error.code, ...found]);
  }
});

test('nobody gets at a blob of another namespace by naming it', async () => {
  const content = { secret: 'of the shop' };
  const sha256 = sha256Of(JSON.stringify(content));
  const put = { method: 'PUT', path: `/v1/blobs/${sha256}`, body: content };
  const task = { type: 'a', inputBlob: sha256 };
  const other = holderOf('admin', 'elsewhere');
  expect((await shop.call(put)).status).toBe(200);
  expect((await shop.post('/v1/tasks', task)).status).toBe(201);

  const refused = await other.post('/v1/tasks', task);
  expect([refused.status, refused.body.error.code]).toEqual([404, 'blob_not_found']);

  // A client that has the content can upload the blob to its namespace.
  expect((await other.call(put)).status).toBe(200);
  expect((await other.post('/v1/tasks', task)).status).toBe(201);
});
