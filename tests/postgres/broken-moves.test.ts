import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { everything, FLAGS, type Lived, live, type Shown } from '../support/lived-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { type Ended, runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const TIMEOUT_MS = 60_000;

let folder: string;
/** The folder of a stopped server. Tests do not change it. */
let data: string;
let lived: Lived;
let shown: Shown;
let store: TempStore;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-broken-move-'));
  data = join(folder, 'data');
  ({ lived, shown } = await live(data));
}, 240_000);

afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  store = await TempStore.create();
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
  await store.dispose();
});

function importFrom(from: string): Promise<Ended> {
  return runSluice(['import', '--from', from, '--store', store.text]);
}

function exportTo(to: string): Promise<Ended> {
  return runSluice(['export', '--to', to, '--store', store.text]);
}

async function start(dataFolder: string, ...flags: string[]): Promise<ServerProcess> {
  const server = await ServerProcess.startServer(dataFolder, ...FLAGS, ...flags);
  servers.push(server);
  return server;
}

function startOnStore(): Promise<ServerProcess> {
  return start(join(folder, 'scratch'), '--store', store.text);
}

async function expectShown({ url }: ServerProcess): Promise<void> {
  const found = await everything(url, lived);
  for (const [path, value] of shown) expect([path, found.get(path)]).toEqual([path, value]);
}

/** Nothing was written into the store. */
async function expectUntouched(): Promise<void> {
  const { rows } = await store.query(
    `SELECT first_record::int AS first, segment,
      (SELECT count(*) FROM $schema.note)::int AS notes FROM $schema.partition`,
  );
  expect(rows).toEqual([{ first: 0, segment: 0, notes: 0 }]);
}

/** The names and contents of what a server has stored. SQLite makes companions while it reads. */
async function contentOf(dataFolder: string): Promise<string[]> {
  const names = (await readdir(dataFolder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/-(?:wal|shm)$|\.(?:spare|lock)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    names.sort().map(async (name) => {
      return `${name} ${createHash('sha256')
        .update(await readFile(name))
        .digest('hex')}`;
    }),
  );
}

/** A command that is killed like a power cut. */
class DoomedCommand {
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(...args: readonly string[]) {
    this.child = spawn(LAUNCHER, args, { stdio: 'ignore' });
    this.closed = once(this.child, 'close');
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}

test('a folder whose server runs is not imported; one whose server was killed is', async () => {
  const copy = join(folder, 'running');
  await cp(data, copy, { recursive: true });
  const server = await start(copy);
  const { code, stderr } = await importFrom(copy);
  await expectUntouched();
  const api = new ApiClient(server.url, 'http1');
  const { id } = (await api.post('/v1/tasks', { type: 'rests', input: 'the last' })).body;
  api.close();
  await server.kill();
  const key = await runSluice(['key', 'create', '--role', 'admin', '--data', copy]);

  const imported = await importFrom(copy);

  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/cannot import: .*(?:in use|another process)/),
  ]);
  expect([imported.code, imported.stderr]).toEqual([0, '']);
  const { url } = await startOnStore();
  const headers = { authorization: `Bearer ${key.stdout.trim()}` };
  expect((await fetch(`${url}/v1/tasks/${id}`)).status).toBe(401);
  const found = await fetch(`${url}/v1/tasks/${id}`, { headers });
  expect(await found.json()).toMatchObject({ state: 'queued', input: 'the last' });
});

test('a store that servers use is neither imported into nor exported', async () => {
  await startOnStore();

  const imported = await importFrom(data);
  const exported = await exportTo(join(folder, 'never'));

  for (const { code, stderr } of [imported, exported]) {
    expect([code, stderr]).toEqual([1, expect.stringContaining('stop all its servers first')]);
  }
});

test('a store with something in it is not imported into', async () => {
  await runSluice(['key', 'create', '--role', 'admin', '--store', store.text]);

  const { code, stderr } = await importFrom(data);

  expect([code, stderr]).toEqual([1, expect.stringContaining('is not empty: its log has')]);
});

test.each([
  ['a place without a database', 'postgres://sluice@127.0.0.1:1/none', 1, 'no connection to'],
  ['an address of another kind', 'mysql://somewhere/else', 2, 'not a PostgreSQL address'],
])('%s is refused', async (_, address, expected, words) => {
  for (const args of [
    ['import', '--from', data],
    ['export', '--to', join(folder, 'nowhere')],
  ]) {
    const { code, stderr } = await runSluice([...args, '--store', address]);
    expect([code, stderr]).toEqual([expected, expect.stringContaining(words)]);
  }
});

test('a schema without tables and a folder without data are refused', async () => {
  const other = store.text.replace(store.address.schema, 'not_made_yet');
  const unmade = await runSluice(['import', '--from', data, '--store', other]);
  const empty = await importFrom(join(folder, 'not-there'));

  expect(unmade).toMatchObject({ code: 1, stderr: expect.stringContaining('cluster init') });
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining('no data of a server') });
  await expectUntouched();
});

test('a folder with a damaged log is refused before anything is written', async () => {
  const copy = join(folder, 'damaged-log');
  await cp(data, copy, { recursive: true });
  const segments = (await readdir(join(copy, 'log'))).filter((x) => x.endsWith('.log')).sort();
  const file = await open(join(copy, 'log', segments[0]), 'r+');
  await file.write(Buffer.from('damaged'), 0, 7, 5000);
  await file.close();

  const { code, stderr } = await importFrom(copy);

  expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot import: .*damaged/)]);
  await expectUntouched();
});

test('after a failure no server starts on the store, and another import starts over', async () => {
  const copy = join(folder, 'damaged-rows');
  await cp(data, copy, { recursive: true });
  const days = await readdir(join(copy, 'projection/days'));
  const day = days.filter((name) => /^\d{4}-\d\d-\d\d\.sqlite$/.test(name)).at(-1) as string;
  await writeFile(join(copy, 'projection/days', day), 'this is not a database at all');

  const { code, stderr } = await importFrom(copy);
  const refused = await startOnStore().catch((cause: Error) => cause.message);
  const exported = await exportTo(join(folder, 'half'));
  const status = await runSluice(['cluster', 'status', '--store', store.text]);
  const again = await importFrom(data);

  expect(status.stdout).toContain(`the import of ${copy} is running or has failed`);
  expect(code).toBe(1);
  expect(stderr).toContain(day);
  expect(stderr).toContain('the store is incomplete');
  expect(refused).toContain(`run 'sluice import --from ${copy}' again`);
  expect(exported).toMatchObject({ code: 1, stderr: expect.stringContaining('has failed') });
  expect([again.code, again.stderr]).toEqual([0, '']);
  await expectShown(await startOnStore());
});

/** How far an import has come, in its order; `epoch` is the one before it. */
const STAGES = [
  'SELECT 1 FROM $schema.partition WHERE epoch > $1',
  'SELECT 1 FROM $schema.snapshot, $schema.partition WHERE epoch > $1',
  `SELECT 1 FROM pg_tables, $schema.partition
   WHERE schemaname = '$schema' AND tablename = 'tag_0_kept' AND epoch > $1`,
  'SELECT 1 FROM $schema.blob_piece, $schema.partition WHERE epoch > $1',
];

async function epochOf(): Promise<number> {
  const { rows } = await store.query<{ epoch: number }>(
    'SELECT epoch::float8 AS epoch FROM $schema.partition',
  );
  return rows[0].epoch;
}

test('an import that is killed at any moment is repeated, and changes no file', async () => {
  const before = await contentOf(data);
  for (const stage of STAGES) {
    const epoch = await epochOf();
    const doomed = new DoomedCommand('import', '--from', data, '--store', store.text);
    const hasCome = async () => (await store.query(stage, [epoch])).count > 0;
    await waitUntil(hasCome, { what: stage, timeoutMs: TIMEOUT_MS });
    const killAt = performance.now() + 20 * Math.random();
    const isTime = () => performance.now() > killAt;
    await waitUntil(isTime, { what: 'it is time', timeoutMs: TIMEOUT_MS });
    await doomed.kill();
  }

  const refused = await startOnStore().catch((cause: Error) => cause.message);
  const { code, stderr } = await importFrom(data);

  expect(refused).toContain('has failed');
  expect([code, stderr]).toEqual([0, '']);
  expect(await contentOf(data)).toEqual(before);
  await expectShown(await startOnStore());
});

test('an export goes into an empty folder only, and one that is killed is refused', async () => {
  await importFrom(data);
  const full = join(folder, 'full');
  await mkdir(full);
  await writeFile(join(full, 'mine.txt'), 'mine');
  const half = join(folder, 'killed-export');

  const refused = await exportTo(full);
  const doomed = new DoomedCommand('export', '--to', half, '--store', store.text);
  const hasLog = async () => (await readdir(half).catch((): string[] => [])).includes('log');
  await waitUntil(hasLog, { what: 'a part is there', timeoutMs: TIMEOUT_MS });
  await doomed.kill();
  const started = await start(half).catch((cause: Error) => cause.message);
  const repeated = await exportTo(half);
  await rm(half, { recursive: true });
  const again = await exportTo(half);

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  expect(await readdir(full)).toEqual(['mine.txt']);
  expect(started).toContain("run 'sluice export' again");
  expect(repeated).toMatchObject({ code: 1, stderr: expect.stringContaining('export again') });
  expect([again.code, again.stderr]).toEqual([0, '']);
  await expectShown(await start(half));
});
