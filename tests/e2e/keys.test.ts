import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const KEY = /^slk_[0-9a-f]{20}_[0-9a-f]{64}\n$/;
const PATIENCE_MS = 30_000;

let folder: string;
let data: string;
let server: ServerProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  data = join(folder, 'data');
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await rm(folder, { recursive: true });
});

async function startDev(): Promise<KeyedApi> {
  server = await ServerProcess.startDev(data);
  return new KeyedApi(server.url);
}

/** A server with one key, that of its admin. */
async function startWithAdmin(): Promise<KeyedApi> {
  const nobody = await startDev();
  return nobody.as(await nobody.keyFor('admin', 'default'));
}

test('a server that others can reach starts once it has a key, made in its folder', async () => {
  const reachable = ['--host', '0.0.0.0', '--allowed-hosts', 'localhost', '--insecure'];
  const refused = await runSluice(['server', '--port', '0', '--data', data, ...reachable]);
  const made = await runSluice(['key', 'create', '--role', 'admin', '--data', data]);
  server = await ServerProcess.startServer(data, ...reachable);
  const port = new URL(server.url).port;
  const admin = new KeyedApi(`http://127.0.0.1:${port}`, made.stdout.trim());

  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`'sluice key create --role admin --data ${data}'`);
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(KEY);
  expect((await admin.as(undefined).get('/v1/tasks')).status).toBe(401);
  expect((await admin.get('/v1/tasks')).status).toBe(200);
  expect((await admin.get('/v1/audit')).body.items).toEqual([
    expect.objectContaining({ actor: 'data-folder', action: 'key_created', detail: 'admin' }),
  ]);
});

test('a folder is left alone while its server runs, and by a key that makes no sense', async () => {
  const worker = ['key', 'create', '--role', 'worker', '--data', data];
  const notFirst = await runSluice(worker);
  const noRole = await runSluice(['key', 'create', '--role', 'king', '--data', data]);
  await startWithAdmin();
  const inUse = await runSluice(worker);

  expect(notFirst).toMatchObject({ code: 1, stdout: '' });
  expect(notFirst.stderr).toContain('the first key must be an admin key');
  expect(noRole.stderr).toContain('/role');
  expect(inUse).toMatchObject({ code: 1, stdout: '' });
  expect(inUse.stderr).toMatch(/is in use by process \d+ on host .+; stop the server/);
});

test('a key that is made in the folder leaves tasks as they were', async () => {
  const api = await startDev();
  const { id } = (await api.post('/v1/tasks', { type: 'later', delayMs: 1 })).body;
  await server?.kill();

  const { stdout } = await runSluice(['key', 'create', '--role', 'admin', '--data', data]);
  const again = (await startDev()).as(stdout.trim());

  const { body } = await again.get(`/v1/tasks/${id}/wait?timeoutMs=0`);
  expect(body).toMatchObject({ id, type: 'later' });
  expect((await again.get('/v1/tasks')).body.items).toHaveLength(1);
});

test('the command line makes keys, lists and revokes them', async () => {
  await startDev();
  const SLUICE_URL = server?.url;
  const first = await runSluice(['key', 'create', '--role', 'admin', '--name', 'Ada'], {
    SLUICE_URL,
  });
  const env = { SLUICE_URL, SLUICE_API_KEY: first.stdout.trim() };
  const made = await runSluice(
    ['key', 'create', '--role', 'viewer', '--namespace', 'shop', '--expires', '90d', '--json'],
    env,
  );
  const { id, key } = JSON.parse(made.stdout);
  const viewer = { SLUICE_URL, SLUICE_API_KEY: key };

  const listed = await runSluice(['key', 'list'], env);
  const seen = await runSluice(['queue', 'list'], viewer);
  const forbidden = await runSluice(['key', 'list'], viewer);
  const revoked = await runSluice(['key', 'revoke', id], env);
  const dead = await runSluice(['queue', 'list'], viewer);
  const unknown = await runSluice(['key', 'revoke', id], env);
  const audit = await runSluice(['audit', 'list'], env);

  expect(first.stdout).toMatch(KEY);
  expect(first.stderr).toContain('it is shown only this once');
  expect(listed.stdout).toMatch(/^ID +ROLES +NAMESPACE .*\nk_\w+ +admin +default +Ada .*\n/);
  expect(listed.stdout).not.toContain('slk_');
  expect(seen.code).toBe(0);
  expect(forbidden).toMatchObject({ code: 1, stdout: '' });
  expect(forbidden.stderr).toContain('a key with the role viewer does not allow this');
  expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${id}\n` });
  expect(dead.code).toBe(1);
  expect(dead.stderr).toContain('(unauthenticated)');
  expect(unknown.stderr).toContain('(key_not_found)');
  expect(audit.stdout).toContain('key_revoked');
});

test('a key is never taken from the command line, nor shown when it cannot be sent', async () => {
  const text = `slk_${'0'.repeat(20)}_${'0'.repeat(64)}`;

  const revoked = await runSluice(['key', 'revoke', text]);
  const replaced = await runSluice(['key', 'create', '--replaces', text]);

  const unsendable = await runSluice(['queue', 'list'], { SLUICE_API_KEY: `${text}\n` });

  for (const { code, stderr } of [revoked, replaced, unsendable]) {
    expect(code).toBe(2);
    expect(stderr).not.toContain(text);
  }
});

test('the successor of a key works beside it, and longer', async () => {
  const admin = await startWithAdmin();
  const old = await admin.keyFor('viewer', 'shop');
  const [, { id }] = (await admin.get('/v1/keys')).body.items;

  const { body } = await admin.post('/v1/keys', { replaces: id, overlapMs: 60_000 });
  const both = [await admin.as(old).get('/v1/tasks'), await admin.as(body.key).get('/v1/tasks')];
  await admin.post('/v1/keys', { replaces: body.id, overlapMs: 0 });
  const ended = await admin.as(body.key).get('/v1/tasks');

  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(body).toMatchObject({ roles: ['viewer'], namespace: 'shop', name: 'a viewer' });
  expect(ended.status).toBe(401);
  expect(ended.body.error.message).toContain('expired at');
});

const BAD_REQUESTS = [
  [{ role: 'king' }, '/role'],
  [{ name: 'nobody' }, '/roles'],
  [{ roles: [] }, '/roles'],
  [{ roles: ['viewer', 'viewer'] }, '/roles'],
  [{ roles: ['viewer', 'king'] }, '/roles/1'],
  [{ role: 'viewer', roles: ['viewer'] }, '/roles'],
  [{ replaces: 'k_0', roles: ['viewer'] }, '/roles'],
  [{ role: 'viewer', namespace: 'a/b' }, '/namespace'],
  [{ role: 'viewer', name: 'a\nb' }, '/name'],
  [{ role: 'viewer', expiresInMs: 1 }, '/expiresInMs'],
  [{ role: 'viewer', overlapMs: 1 }, '/overlapMs'],
  [{ replaces: 'k_0', role: 'viewer' }, '/role'],
] as const;

test('a key with several roles may do what each of them allows, and no more', async () => {
  const admin = await startWithAdmin();
  const { body } = await admin.post('/v1/keys', { roles: ['submitter', 'worker'] });
  const both = admin.as(body.key);

  expect(body.roles).toEqual(['submitter', 'worker']);
  expect((await both.post('/v1/tasks', { type: 'hello' })).status).toBe(201);
  const session = { worker: 'w', types: [{ type: 'hello' }], capacity: { slots: 1 } };
  expect((await both.post('/v1/worker-sessions', session)).status).not.toBe(403);
  const refused = await both.get('/v1/keys');
  expect(refused.body.error.message).toContain('a key with the roles submitter and worker');
  const again = await admin.post('/v1/keys', { replaces: body.id });
  expect(again.body.roles).toEqual(['submitter', 'worker']);
});

test('a request for a key that makes no sense is refused by the name of the field', async () => {
  const admin = await startWithAdmin();

  for (const [request, path] of BAD_REQUESTS) {
    const { status, body } = await admin.post('/v1/keys', request);

    expect(status).toBe(400);
    const paths = body.error.details.map((detail: { path: string }) => detail.path);
    expect(paths, JSON.stringify(request)).toEqual([path]);
  }
});

test('keys, their ends and the record of changes survive a kill', async () => {
  const admin = await startWithAdmin();
  const [viewer, worker] = [
    await admin.keyFor('viewer', 'shop'),
    await admin.keyFor('worker', 'shop'),
  ];
  const ids = (await admin.get('/v1/keys')).body.items.map(({ id }: { id: string }) => id);
  await admin.call({ method: 'DELETE', path: `/v1/keys/${ids[1]}` });
  const before = (await admin.get('/v1/audit')).body.items;
  await server?.kill();

  const again = (await startDev()).as(admin.key);

  expect((await again.as(viewer).get('/v1/tasks')).status).toBe(401);
  expect((await again.as(worker).get('/v1/tasks')).status).toBe(403);
  expect((await again.get('/v1/audit')).body.items).toEqual(before);
});

test('a kill in the middle loses no key that was answered, and brings none back', async () => {
  const admin = await startWithAdmin();
  const made: string[] = [];
  const revoked: string[] = [];
  const churn = async (): Promise<void> => {
    // Runs until the server is gone.
    for (;;) {
      const { key, id } = (await admin.post('/v1/keys', { role: 'viewer' })).body;
      made.push(key);
      if (made.length % 2 === 0) continue;
      await admin.call({ method: 'DELETE', path: `/v1/keys/${id}` });
      revoked.push(key);
    }
  };
  const churning = Array.from({ length: 8 }, () => churn().catch(() => undefined));
  await waitUntil(() => revoked.length >= 40, {
    what: 'keys come and go',
    timeoutMs: PATIENCE_MS,
  });
  await server?.kill();
  await Promise.all(churning);

  const again = (await startDev()).as(admin.key);
  const { items } = (await again.get('/v1/keys?limit=1000')).body;
  const known = new Set(items.map(({ id }: { id: string }) => id));
  const isKnown = (key: string) => known.has(`k_${key.slice(4, 24)}`);

  expect(revoked.filter(isKnown)).toEqual([]);
  const kept = made.filter((key) => !revoked.includes(key));
  // The keys whose revocation was in flight may or may not exist.
  const unsure = kept.filter((key) => !isKnown(key));
  expect(unsure.length).toBeLessThanOrEqual(churning.length);
  const [survivor] = kept.filter(isKnown);
  expect((await again.as(survivor).get('/v1/tasks')).status).toBe(200);
  const created = (await again.get('/v1/audit?limit=1000')).body.items.filter(
    ({ action }: { action: string }) => action === 'key_created',
  );
  expect(created.length).toBeGreaterThanOrEqual(made.length);
});

test('a worker with a key works, and is cut off when the key is revoked', async () => {
  const admin = await startWithAdmin();
  const [workerKey, submitterKey] = [
    await admin.keyFor('worker', 'shop'),
    await admin.keyFor('submitter', 'shop'),
  ];
  const url = server?.url ?? '';
  const hello = defineTask({ type: 'hello', run: (name: string) => `Hello, ${name}` });
  const workers = new Sluice({ url, apiKey: workerKey });
  const client = new Sluice({ url, apiKey: submitterKey });
  const worker = await workers.work([hello], { handleSignals: false });

  const said = await (await client.submit(hello, 'Ada')).result();
  const refused = await workers.submit(hello, 'Bob').catch((cause: Error) => cause);
  const [, { id }] = (await admin.get('/v1/keys')).body.items;
  await admin.call({ method: 'DELETE', path: `/v1/keys/${id}` });
  const viewer = admin.as(submitterKey);
  await waitUntil(async () => !(await viewer.get('/v1/workers')).body.items[0]?.connected, {
    what: 'the worker is cut off',
    timeoutMs: PATIENCE_MS,
  });
  const task = await client.submit(hello, 'Cy');

  expect(said).toBe('Hello, Ada');
  expect(refused).toMatchObject({ code: 'forbidden' });
  expect(await task.get()).toMatchObject({ state: 'queued' });
  await Promise.all([worker.stop({ graceMs: 0 }), client.close()]);
});

test('over HTTP/2 a key counts as well', async () => {
  const admin = await startWithAdmin();
  const open = new ApiClient(server?.url ?? '', 'h2c');

  expect((await open.get('/v1/tasks')).status).toBe(401);
  expect((await open.get('/health/live')).status).toBe(200);
  open.close();
  expect((await admin.get('/v1/tasks')).status).toBe(200);
});

/** The bytes of all files below a folder. */
async function contentsOf(path: string): Promise<Buffer> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name)))),
  );
}

test('no key is in the data folder, in what is logged, or in any other answer', async () => {
  server = await ServerProcess.startServer(
    data,
    '--log-level',
    'debug',
    '--snapshot-every-bytes',
    '1048576',
  );
  const nobody = new KeyedApi(server.url);
  const admin = nobody.as(await nobody.keyFor('admin', 'default'));
  const texts = [admin.key ?? '', await admin.keyFor('worker', 'shop')];
  const [, text] = texts;
  const answers = [
    await admin.get('/v1/keys'),
    await admin.get('/v1/audit'),
    await admin.get('/metrics'),
    await admin.call({ method: 'DELETE', path: `/v1/keys/${text}` }),
    await admin.post('/v1/keys', { replaces: text }),
    await admin.get(`/v1/tasks?key=${text}`),
    await admin.as(text).get('/v1/tasks'),
    await admin.as(`${text}x`).get('/v1/tasks'),
  ];
  const filler = Array.from({ length: 20 }, () => ({ type: 'a', input: 'x'.repeat(100_000) }));
  await admin.post('/v1/tasks', filler);
  await waitUntil(async () => (await readdir(join(data, 'snapshots'))).length > 0, {
    what: 'there is a snapshot',
    timeoutMs: PATIENCE_MS,
  });
  server.signal('SIGTERM');
  await server.exited();

  const stored = await contentsOf(data);
  const dumped = await runSluice(['log', 'dump', '--data', data]);
  const said = JSON.stringify(answers.map(({ body }) => body)) + server.lastOutput + dumped.stdout;
  for (const each of texts) {
    const secret = each.slice(-64);
    expect(stored.includes(secret)).toBe(false);
    expect(stored.includes(Buffer.from(secret, 'hex'))).toBe(false);
    expect(said).not.toContain(secret);
    expect(said).not.toContain(createHash('sha256').update(each).digest('hex'));
  }
  // Negative control: the ids of keys are in the same places.
  expect(stored.includes(`k_${text.slice(4, 24)}`)).toBe(true);
  expect(said).toContain(`k_${text.slice(4, 24)}`);
});
