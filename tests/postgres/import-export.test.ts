import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { everything, FLAGS, type Lived, live, type Shown, stop } from '../support/lived-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';

let folder: string;
let store: TempStore;
let server: ServerProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-move-'));
  store = await TempStore.create();
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await store.dispose();
  await rm(folder, { recursive: true });
});

async function startOnStore(): Promise<string> {
  server = await ServerProcess.startServer(
    join(folder, 'scratch'),
    ...['--store', store.text, ...FLAGS],
  );
  return server.url;
}

/** The worker that held a task reports its end, with the lease from before the move. */
async function endLeased(url: string, { sessionId, lease, leased }: Lived): Promise<void> {
  const resume = { sessionId, running: [lease] };
  const types = [{ type: 'hello' }, { type: 'first' }];
  const session = new SessionUnderTest(url, 'http1', { types, resume });
  const api = new ApiClient(url, 'http1');
  const welcome = await session.welcomed();
  const reported = await api.report(sessionId, [
    { lease, kind: 'log', seq: 2, lines: ['ended'] },
    { lease, kind: 'succeeded', output: 'kept' },
  ]);
  const { body } = await api.get(`/v1/tasks/${leased}`);
  session.disconnect();
  api.close();
  expect(welcome).toMatchObject({ resumed: true, lost: [] });
  expect(reported.status).toBe(200);
  expect(body).toMatchObject({ state: 'succeeded', output: 'kept' });
}

/** Event ids name these, so that a reader of events goes on where it was. */
async function startsOf(data: string): Promise<unknown[]> {
  return JSON.parse(await readFile(join(folder, data, 'starts.json'), 'utf8'));
}

test('everything moves into the database and goes on there, and back into a folder', async () => {
  const { lived, shown } = await live(join(folder, 'data'));

  const imported = await runSluice([
    ...['import', '--from', join(folder, 'data')],
    ...['--store', store.text, '--json'],
  ]);
  expect(imported.stderr).toBe('');
  expect(imported.code).toBe(0);
  // The log was trimmed, so a snapshot stands for its beginning.
  const { rows } = await store.query(
    `SELECT first_record > 0 AS "isTrimmed", (SELECT count(*) FROM $schema.snapshot) > 0 AS "has"
     FROM $schema.partition`,
  );
  expect(rows).toEqual([{ isTrimmed: true, has: true }]);
  const url = await startOnStore();
  await expectShown(url, lived, shown);
  await endLeased(url, lived);
  const rests = defineTask({ type: 'rests', run: async (input: string) => `${input} no more` });
  const sluice = new Sluice({ url });
  await sluice.work([rests], { handleSignals: false });
  expect(await sluice.task(lived.taskIds[3]).result()).toBe('waits no more');
  await sluice.close();
  const later = await everything(url, lived);
  await stop(server as ServerProcess);

  const exported = await runSluice([
    ...['export', '--to', join(folder, 'back')],
    ...['--store', store.text, '--json'],
  ]);
  expect(exported.stderr).toBe('');
  expect(exported.code).toBe(0);
  server = await ServerProcess.startServer(join(folder, 'back'), ...FLAGS);

  await expectShown(server.url, lived, later);
  const starts = await startsOf('data');
  expect((await startsOf('back')).slice(0, starts.length)).toEqual(starts);
  await endRun(server.url, lived);
});

/** Path by path: the difference of all answers together would be too long to read. */
async function expectShown(url: string, lived: Lived, expected: Shown): Promise<void> {
  const found = await everything(url, lived);
  for (const [path, value] of expected) expect([path, found.get(path)]).toEqual([path, value]);
}

/** The second step of the run, whose first step ended before both moves. */
async function endRun(url: string, { runId }: Lived): Promise<void> {
  const session = new SessionUnderTest(url, 'http1', { types: [{ type: 'second' }] });
  const api = new ApiClient(url, 'http1');
  const { sessionId } = await session.welcomed();
  const { lease, input } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'succeeded', output: { n: 8 } }]);
  const { body } = await api.get(`/v1/runs/${runId}`);
  session.disconnect();
  api.close();
  expect(input).toEqual({ n: 7 });
  expect(body).toMatchObject({ status: 'succeeded', output: { n: 8 } });
}
