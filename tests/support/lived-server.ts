/** A server with something of every kind, and all that it shows. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { ApiClient } from '../e2e/api-client.ts';
import { BlobClient, largeJson, sha256Of } from '../e2e/blob-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { simple } from '../e2e/video-workflow.ts';
import { ServerProcess } from './server-process.ts';
import { waitUntil } from './wait-until.ts';

const TIMEOUT_MS = 120_000;

/** Two steps; a worker ends the first before the move, and the second afterwards. */
const TWO_STEPS = {
  tasks: [simple('first', 'first'), simple('second', 'second', { n: '${first.output.n}' })],
  outputParameters: { n: '${second.output.n}' },
};

/** What a test needs to find again. */
export interface Lived {
  readonly taskIds: readonly string[];
  readonly runId: string;
  /** The content of a blob that a delayed task names. */
  readonly blob: string;
  /** What a worker still holds. */
  readonly sessionId: string;
  readonly lease: string;
  readonly leased: string;
}

/** Answers of a server, by path. */
export type Shown = ReadonlyMap<string, unknown>;

/** The least that makes a server fold its log, and few tasks that stay in memory. */
export const FLAGS = ['--snapshot-every-bytes', '1048576', '--limits-finished-tasks-max', '5'];

const TYPES = ['hello', 'first'].map((type) => ({ type }));

/** Fills the folder by a server that has ended when this resolves. */
export async function live(dataFolder: string): Promise<{ lived: Lived; shown: Shown }> {
  const early = await ServerProcess.startServer(dataFolder, ...FLAGS);
  const [finished, dead] = await workFirst(early);
  await stop(early);
  const server = await ServerProcess.startServer(dataFolder, ...FLAGS);
  await growUntilTrimmed(server.url, dataFolder);
  const lived = await leaveOpen(server, [finished, dead]);
  await stop(server);
  // What it shows after a start: that is what a move must not change.
  const again = await ServerProcess.startServer(dataFolder, ...FLAGS);
  const shown = await everything(again.url, lived);
  await stop(again);
  return { lived, shown };
}

export async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM');
  await server.exited();
}

/** A task that succeeded, with lines and tags, and one that became a dead letter. */
async function workFirst({ url }: ServerProcess): Promise<string[]> {
  const api = new ApiClient(url, 'http1');
  const session = new SessionUnderTest(url, 'http1', { types: TYPES });
  const { sessionId } = await session.welcomed();
  const ids: string[] = [];
  const ends = [
    { kind: 'succeeded', output: { done: 'é\u0000' } },
    { kind: 'failed', error: { message: 'no such file 17' } },
  ];
  for (const end of ends) {
    const task = { type: 'hello', tags: { n: 'first' }, input: 'in', retry: { maxAttempts: 1 } };
    ids.push((await api.post('/v1/tasks', task)).body.id);
    const { lease } = await session.takeTask();
    const lines = { lease, kind: 'log', seq: 1, lines: ['one line', 'and another'] };
    await api.report(sessionId, [lines, { lease, ...end }]);
  }
  session.disconnect();
  api.close();
  return ids;
}

/** Works until the log no longer begins with the first record. */
async function growUntilTrimmed(url: string, dataFolder: string): Promise<void> {
  const bulk = defineTask({ type: 'bulk', run: async (text: string) => text.length });
  const sluice = new Sluice({ url });
  await sluice.work([bulk], { handleSignals: false, concurrency: { bulk: 10 } });
  const isTrimmed = async () => {
    const inputs = Array.from({ length: 10 }, () => 'x'.repeat(50_000));
    const tasks = await sluice.submitMany(bulk, inputs);
    await Promise.all(tasks.map((task) => task.result()));
    const segments = (await readdir(join(dataFolder, 'log'))).filter((x) => x.endsWith('.log'));
    return segments.every((name) => !name.startsWith('0'.repeat(16)));
  };
  await waitUntil(isTrimmed, { what: 'the log is trimmed', timeoutMs: TIMEOUT_MS });
  await sluice.close();
}

/** Work that goes on after the move. */
async function leaveOpen({ url }: ServerProcess, before: readonly string[]): Promise<Lived> {
  const api = new ApiClient(url, 'http1');
  const submit = async (task: object): Promise<string> =>
    (await api.post('/v1/tasks', task)).body.id;
  const session = new SessionUnderTest(url, 'http1', { types: TYPES, leaseMs: 600_000 });
  const { sessionId } = await session.welcomed();
  await api.put('/v1/workflows/two/versions/1', TWO_STEPS);
  const runId = (await api.post('/v1/runs', { workflow: 'two', input: {} })).body.id;
  const first = await session.takeTask();
  await api.report(sessionId, [{ lease: first.lease, kind: 'succeeded', output: { n: 7 } }]);
  const leased = await submit({ type: 'hello', input: 'held' });
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'log', seq: 1, lines: ['began'] }]);
  const blob = largeJson(700_000);
  await new BlobClient(url).put(blob);
  const ids = [
    ...before,
    leased,
    await submit({ type: 'rests', dedupeKey: 'once', input: 'waits' }),
    await submit({ type: 'later', delayMs: 3_600_000, inputBlob: sha256Of(blob) }),
  ];
  const task = { type: 'report', input: '{{scheduledAt}}' };
  await api.put('/v1/schedules/nightly', { spec: { cron: '0 3 * * *' }, task });
  await api.put('/v1/task-types/later', { priority: 7 });
  session.disconnect();
  api.close();
  return { taskIds: ids, runId, blob, sessionId, lease, leased };
}

const LISTS = [
  '/v1/tasks?limit=1000',
  '/v1/tasks?tag.n=first',
  '/v1/tasks?q=17',
  '/v1/dead-letters',
  '/v1/runs',
  '/v1/task-types',
  '/v1/queues',
  '/v1/schedules',
  '/v1/workflows',
  '/v1/audit',
];

/** Everything that the server shows, without values that change by themselves. */
export async function everything(url: string, lived: Lived): Promise<Shown> {
  const api = new ApiClient(url, 'http1');
  const ofTasks = lived.taskIds.flatMap((id) =>
    ['', '/history', '/logs'].map((more) => `/v1/tasks/${id}${more}`),
  );
  const ofRun = ['', '/history', '/steps'].map((more) => `/v1/runs/${lived.runId}${more}`);
  const answers = new Map<string, unknown>();
  for (const path of [...LISTS, ...ofTasks, ...ofRun]) {
    answers.set(path, withoutMoment(await wholeAnswer(api, path)));
  }
  api.close();
  const { text } = await new BlobClient(url).get(sha256Of(lived.blob));
  answers.set('blob', text === lived.blob);
  return answers;
}

/** With all its pages: on a busy machine a search returns what it has found in its time. */
async function wholeAnswer(api: ApiClient, path: string): Promise<object> {
  const { status, body } = await api.get(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  if (typeof body.nextCursor !== 'string') return body;
  const joint = path.includes('?') ? '&' : '?';
  const [first] = path.split(/[?&]cursor=/);
  const rest = await wholeAnswer(api, `${first}${joint}cursor=${body.nextCursor}`);
  const { items } = rest as { items: unknown[] };
  return { ...body, items: [...body.items, ...items], nextCursor: null };
}

const OF_THE_MOMENT = ['asOf', 'lagMs', 'workers', 'oldestAgeMs', 'inPerSec', 'outPerSec'];

function withoutMoment(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value) =>
    OF_THE_MOMENT.includes(key) ? undefined : value,
  );
  return JSON.parse(text);
}
