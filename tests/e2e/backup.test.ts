import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { restoreInto, takeBackup } from '../support/backup-commands.ts';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let session: SessionUnderTest;
let sessionId: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'));
  await start('data');
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true });
});

/** At most two finished tasks are kept in memory. */
async function start(data: string): Promise<void> {
  const limits = ['--limits-finished-tasks-max', '2'];
  server = await ServerProcess.startServer(join(folder, data), ...limits);
  api = new ApiClient(server.url, 'http1');
}

async function kill(): Promise<void> {
  session?.disconnect();
  api.close();
  await server.kill();
}

async function connect(): Promise<void> {
  const request = { name: 'w', types: [{ type: 'hello' }], leaseMs: 60_000 };
  session = new SessionUnderTest(server.url, 'http1', request);
  ({ sessionId } = await session.welcomed());
}

async function submit(task: object): Promise<string> {
  return (await api.post('/v1/tasks', { type: 'hello', ...task })).body.id;
}

async function answer(...reports: object[]): Promise<void> {
  const { lease } = await session.takeTask();
  await api.report(
    sessionId,
    reports.map((report) => ({ lease, ...report })),
  );
}

const BLOB = JSON.stringify('x'.repeat(300_000));
const BLOB_HASH = createHash('sha256').update(BLOB).digest('hex');

function blobUrl(): string {
  return `${server.url}/v1/blobs/${BLOB_HASH}`;
}

/** Creates something of every kind; returns the ids of the tasks. */
async function live(): Promise<string[]> {
  await connect();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.push(await submit({ input: { n }, tags: { n: `${n}` } }));
    const log = { kind: 'log', seq: 1, lines: [`line of ${n}`] };
    await answer(log, { kind: 'succeeded', output: n });
  }
  ids.push(await submit({ retry: { maxAttempts: 1 } }));
  await answer({ kind: 'failed', error: { message: 'no such file 17' } });
  ids.push(await submit({ type: 'rests', dedupeKey: 'once', input: 'waits' }));
  ids.push(await submit({ type: 'later', delayMs: 3_600_000 }));
  const uploaded = await fetch(blobUrl(), { method: 'PUT', body: BLOB });
  expect(uploaded.status).toBeLessThan(300);
  ids.push(await submit({ type: 'later', delayMs: 3_600_000, inputBlob: BLOB_HASH }));
  await api.put('/v1/task-types/rests', { priority: 7 });
  await api.patch('/v1/queues/rests', { paused: true });
  return ids;
}

/** An event stream that has started. */
function follow(lastEventId?: string): Promise<Response> {
  const headers: Record<string, string> = {};
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
  return fetch(`${server.url}/v1/events`, { headers });
}

/** The text of a stream up to its first id. */
async function firstOf({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (/^id: .*\n(?:.*\n)*\n/m.test(text)) break;
  }
  return text;
}

const LISTS = [
  '/v1/tasks?limit=1000',
  '/v1/tasks?tag.n=3',
  '/v1/tasks?q=17',
  '/v1/dead-letters',
  '/v1/dead-letters/groups',
  '/v1/task-types',
  '/v1/queues',
];

/** Everything that the server shows, without values that change by themselves. */
async function everything(ids: readonly string[]): Promise<unknown> {
  const ofTasks = ids.flatMap((id) => ['', '/history', '/logs'].map((x) => `/v1/tasks/${id}${x}`));
  const answers: unknown[] = [];
  for (const path of [...LISTS, ...ofTasks]) {
    const { status, body } = await api.get(path);
    expect([path, status]).toEqual([path, 200]);
    answers.push([path, withoutMoment(body)]);
  }
  return answers;
}

const OF_THE_MOMENT = [
  'asOf',
  'lagMs',
  'workers',
  'oldestQueuedMs',
  'oldestAgeMs',
  'inPerSec',
  'outPerSec',
];

function withoutMoment(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value) =>
    OF_THE_MOMENT.includes(key) ? undefined : value,
  );
  return JSON.parse(text);
}

test('a server that was restored knows all that the one before had acknowledged', async () => {
  const ids = await live();
  const before = await everything(ids);
  const audit = (await api.get('/v1/audit')).body.items;
  const figures = () => api.get('/v1/stats?window=10m');
  const isCounted = async () => (await figures()).body.items.length > 0;
  await waitUntil(isCounted, { what: 'there are figures', timeoutMs: 10_000 });
  const [first] = (await figures()).body.items;
  await takeBackup(server.url, join(folder, 'copy'));
  // If this fails, a new file in the data folder needs a decision: is it part of a backup?
  const [copied, kept] = await Promise.all(['copy', 'data'].map((x) => readdir(join(folder, x))));
  // This log is too short for a snapshot. `starts.json` is left out, so that event ids of one log
  // are not valid in another.
  expect([...copied, 'snapshots', 'starts.json']).toEqual(expect.arrayContaining(kept));
  await kill();

  await restoreInto(join(folder, 'restored'), join(folder, 'copy'));
  await start('restored');

  expect(await everything(ids)).toEqual(before);
  const [restored, taken, ...others] = (await api.get('/v1/audit')).body.items;
  expect([restored.action, taken.action]).toEqual(['restored', 'backup_taken']);
  expect(others).toEqual(audit);
  expect((await figures()).body.items[0].at).toBe(first.at);
  expect(await (await fetch(blobUrl())).text()).toBe(BLOB);
  const again = await api.post('/v1/tasks', { type: 'rests', dedupeKey: 'once', input: 'waits' });
  expect(again).toMatchObject({ status: 200, body: { id: ids[6] } });
});

test('what a worker held runs again, and its lease of before counts nowhere', async () => {
  await connect();
  const id = await submit({ input: 'held' });
  const { lease } = await session.takeTask();
  await takeBackup(server.url, join(folder, 'copy'));
  // After the backup the server grants one more lease, which the restored server will not know.
  const lost = await submit({ input: 'of a time that is gone' });
  await session.takeTask();
  const oldSession = sessionId;
  await kill();
  await restoreInto(join(folder, 'restored'), join(folder, 'copy'));
  await start('restored');

  const resume = { sessionId: oldSession, running: [lease] };
  session = new SessionUnderTest(server.url, 'http1', {
    name: 'w',
    types: [{ type: 'hello' }],
    resume,
  });
  const welcome = await session.welcomed();
  const pushed = await session.takeTask();
  const late = await api.report(oldSession, [{ lease, kind: 'succeeded', output: 'late' }]);
  await api.report(oldSession, [{ lease: pushed.lease, kind: 'succeeded', output: 'again' }]);

  expect(welcome).toMatchObject({ lost: [lease] });
  expect(pushed).toMatchObject({ id, attempt: 1 });
  expect(pushed.lease).not.toBe(lease);
  expect(late.body).toEqual({ outcomes: ['stale_lease'] });
  expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ output: 'again' });
  expect((await api.get(`/v1/tasks/${lost}`)).status).toBe(404);
});

test('a backup is for its owner alone, and says what it is', async () => {
  await submit({});
  const copy = join(folder, 'copy');

  const { code, stdout } = await runSluice(['backup', copy, '--url', server.url, '--json']);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ folder: copy, version: '0.2.0' });
  for (const path of ['', 'manifest.jsonl', 'log', 'stats.json', 'projection/mark.sqlite']) {
    expect([path, (await stat(join(copy, path))).mode & 0o077]).toEqual([path, 0]);
  }
  expect(existsSync(join(folder, 'data', 'backup.unfinished'))).toBe(false);
});

test('only an admin of the default namespace takes one, and his keys are in it', async () => {
  const nobody = new KeyedApi(server.url);
  const key = await nobody.keyFor('admin', 'default');
  const operator = await nobody.as(key).keyFor('operator', 'default');
  const copy = join(folder, 'copy');
  const args = ['backup', copy, '--url', server.url];

  const refused = await runSluice(args, { SLUICE_API_KEY: operator });
  const taken = await runSluice(args, { SLUICE_API_KEY: key });
  await kill();
  await restoreInto(join(folder, 'restored'), copy);
  await start('restored');

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('forbidden') });
  expect(taken.code).toBe(0);
  const restored = new KeyedApi(server.url, key);
  expect((await restored.get('/v1/keys')).body.items).toHaveLength(2);
  expect((await restored.as('slk_none').get('/v1/keys')).status).toBe(401);
});

test('an id of events from before a restore is a gap, however far the log goes', async () => {
  await takeBackup(server.url, join(folder, 'backup'));
  const stream = await follow();
  await submit({ type: 'rests' });
  const [, id] = /^id: (.*)$/m.exec(await firstOf(stream)) as RegExpExecArray;
  await kill();
  await restoreInto(join(folder, 'restored'), join(folder, 'backup'));
  await start('restored');
  for (let n = 0; n < 30; n++) await submit({ type: 'rests' });

  expect(await firstOf(await follow(id))).toMatch(/^event: gap\n(id: .*\n)?data: {"from":0,/);
});
