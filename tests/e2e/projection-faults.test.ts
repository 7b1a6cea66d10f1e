import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const TIMEOUT_MS = 20_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const CLI = fileURLToPath(new URL('../../packages/cli/bin/sluice', import.meta.url));
const MOVED_CLOCK = new URL('../support/moved-clock.ts', import.meta.url).href;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let session: SessionUnderTest;
let sessionId: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-projection-'));
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true });
});

async function start({ aheadMs = 0 } = {}): Promise<void> {
  server = await ServerProcess.start({
    command: CLI,
    args: ['server', '--port', '0', '--data', folder],
    env: {
      NODE_OPTIONS: `--import=${MOVED_CLOCK}`,
      SLUICE_TEST_CLOCK_AHEAD_MS: String(aheadMs),
    },
  });
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1');
  ({ sessionId } = await session.welcomed());
}

async function kill(): Promise<void> {
  session.disconnect();
  api.close();
  await server.kill();
}

async function restart(options: { readonly aheadMs: number }): Promise<void> {
  await kill();
  await start(options);
}

async function finish(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { body } = await api.post('/v1/tasks', { type: 'hello' });
    const { lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, kind: 'succeeded', output: n }]);
    ids.push(body.id);
  }
  return ids;
}

async function listed(): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await api.get(`/v1/tasks?limit=2${cursor}`);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    if (body.nextCursor === null) return ids;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

/**
 * Waits until the projection is in this state. `ok` also requires that it has all durable records.
 */
async function projectionIs(state: string): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const { projection } = (await api.get('/v1/cluster')).body;
    return projection.state === state && (state !== 'ok' || projection.lagRecords === 0);
  };
  await waitUntil(isSo, { what: `the projection is ${state}`, timeoutMs: TIMEOUT_MS });
}

async function dayFiles(): Promise<string[]> {
  const names = await readdir(join(folder, 'projection', 'days'));
  return names.filter((name) => /^\d{4}-\d\d-\d\d\.sqlite$/.test(name)).sort();
}

/** Waits until the file of the first day has this many task rows on the disk. */
async function isWritten(count: number): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const [day] = await dayFiles();
    if (day === undefined) return false;
    return numberIn(join('days', day), 'SELECT count(*) AS number FROM tasks') >= count;
  };
  await waitUntil(isSo, { what: `${count} rows are written`, timeoutMs: TIMEOUT_MS });
}

/** Waits until the mark is on the disk too: it is written after the rows. */
async function markIsWritten(): Promise<void> {
  await projectionIs('ok');
  const { position } = (await api.get('/v1/cluster')).body.projection;
  const isSo = (): boolean =>
    numberIn('mark.sqlite', 'SELECT position AS number FROM mark') >= position;
  await waitUntil(isSo, { what: 'the mark is written', timeoutMs: TIMEOUT_MS });
}

/** What this query finds in a file of the projection; 0 while the file is being created. */
function numberIn(file: string, query: string): number {
  const db = new DatabaseSync(join(folder, 'projection', file), { readOnly: true });
  try {
    return (db.prepare(query).get() as { number: number }).number;
  } catch {
    return 0;
  } finally {
    db.close();
  }
}

function rebuild() {
  return promisify(execFile)(CLI, ['projection', 'rebuild', '--data', folder]);
}

/** Changes the file of the first day while the server is stopped, like a failing disk. */
async function damageRow(statement: string): Promise<void> {
  const [day] = await dayFiles();
  const db = new DatabaseSync(join(folder, 'projection', 'days', day));
  db.exec(statement);
  db.close();
}

test('while rows cannot be written tasks run, the lag shows, and all is made up for', async () => {
  await start();
  const before = await finish(1);
  await isWritten(1);
  const [day] = await dayFiles();
  const other = new DatabaseSync(join(folder, 'projection', 'days', day));
  other.exec('BEGIN IMMEDIATE');

  const during = await finish(3);
  await projectionIs('failing');
  during.push(...(await finish(3)));

  const { projection } = (await api.get('/v1/cluster')).body;
  expect(projection).toMatchObject({ state: 'failing', why: 'database is locked' });
  expect(projection.lagRecords).toBeGreaterThan(0);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^sluice_projection_ok 0$/m);
  expect(metrics).toMatch(/^sluice_projection_lag_records [1-9]/m);
  expect((await api.get(`/v1/tasks/${during[5]}`)).body.state).toBe('succeeded');
  expect((await api.get('/v1/tasks')).status).toBe(200);
  expect(server.lastOutput).toContain('cannot be written; tasks continue to run');

  other.exec('ROLLBACK');
  other.close();
  await projectionIs('ok');
  expect(await listed()).toEqual([...before, ...during].toReversed());
});

test('a projection that was lost comes back from the log', async () => {
  await start();
  const ids = await finish(5);
  await isWritten(5);
  await kill();
  await rm(join(folder, 'projection'), { recursive: true });

  await start();
  await projectionIs('ok');
  expect(await listed()).toEqual(ids.toReversed());
});

test('a day that was set aside is rebuilt from the log', async () => {
  await start();
  const ids = await finish(3);
  await isWritten(3);
  await expect(rebuild()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot rebuild the projection'),
  });
  await kill();
  const [day] = await dayFiles();
  for (const name of [day, `${day}-wal`]) {
    await writeFile(join(folder, 'projection', 'days', name), 'x'.repeat(20_000));
  }
  await start();
  await projectionIs('ok');
  expect(await listed()).toEqual([]);
  await kill();

  expect((await rebuild()).stdout).toContain('reads the log from its beginning');
  await start();
  const [later] = await finish(1);
  await projectionIs('ok');
  expect(await listed()).toEqual([later, ...ids.toReversed()]);
});

test('a row that cannot be read is left out and named, and a rebuild brings it back', async () => {
  await start();
  const [first, second] = await finish(2);
  const { body: waits } = await api.post('/v1/tasks', { type: 'late', delayMs: DAY_MS });
  await projectionIs('ok');
  // A server that is told to stop also writes rows for tasks that have not ended.
  session.disconnect();
  api.close();
  server.signal('SIGTERM');
  await server.exited();
  await damageRow(`UPDATE tasks SET body = replace(body, '[', '{') WHERE number > 1`);

  await start();
  expect(await listed()).toEqual([first]);
  expect((await api.post(`/v1/tasks/${waits.id}/cancel`, {})).status).toBe(200);
  const [third] = await finish(1);
  await projectionIs('ok');
  expect(await listed()).toEqual([third, first]);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^sluice_projection_left_out_total\{kind="row"\} 2$/m);
  expect(server.lastOutput).toContain(second);
  await kill();

  await rebuild();
  await start();
  await projectionIs('ok');
  expect(await listed()).toEqual([third, waits.id, second, first]);
});

test('a damaged mark and a folder in place of a day do not keep a server down', async () => {
  await start();
  const ids = await finish(2);
  await isWritten(2);
  await kill();
  const projection = join(folder, 'projection');
  for (const name of ['mark.sqlite', 'mark.sqlite-wal']) {
    await writeFile(join(projection, name), 'x'.repeat(20_000));
  }
  await mkdir(join(projection, 'days', '2020-01-01.sqlite'));

  await start();
  await projectionIs('ok');
  expect(await listed()).toEqual(ids.toReversed());
  for (const name of ['mark.sqlite.corrupt', '2020-01-01.sqlite.corrupt']) {
    expect(server.lastOutput).toContain(name);
  }
});

test('a projection of another log keeps a server down, and the error names it', async () => {
  await start();
  await finish(2);
  await markIsWritten();
  await kill();
  await rm(join(folder, 'log'), { recursive: true });

  const projection = join(folder, 'projection');
  await expect(start()).rejects.toThrow(`the projection in '${projection}' continues at record`);

  await rename(projection, join(folder, 'aside'));
  await start();
});

test('a new day has a new file, and old days go, but for what has not ended', async () => {
  await start();
  const { body: waits } = await api.post('/v1/tasks', { type: 'late', delayMs: 30 * DAY_MS });
  const first = await finish(3);
  await restart({ aheadMs: DAY_MS });
  const second = await finish(3);
  await projectionIs('ok');

  expect(await listed()).toEqual([...second.toReversed(), ...first.toReversed(), waits.id]);
  await restart({ aheadMs: 9 * DAY_MS });
  const third = await finish(1);
  const isGone = async (): Promise<boolean> => (await listed()).length === 2;
  await waitUntil(isGone, { what: 'two days are removed', timeoutMs: 2 * TIMEOUT_MS });

  expect(await listed()).toEqual([...third, waits.id]);
  expect(await dayFiles()).toHaveLength(1);
  expect((await api.get(`/v1/tasks/${waits.id}/history`)).body.items).toHaveLength(1);
});
