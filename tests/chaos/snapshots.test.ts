import { existsSync, watch } from 'node:fs';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { foldProcessesOf } from '../../packages/engine/src/testing/fold-processes.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { BlobClient, largeJson, sha256Of } from '../e2e/blob-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DataFolder, startSmallServer } from './data-folder.ts';

const EVERY_BYTES = 200_000;
const TASKS_PER_SUBMIT = 20;
const FOLD_MS_MAX = 30_000;

let folder: string;
let data: DataFolder;
let server: ServerProcess;
let api: ApiClient;
let ids: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-snapshots-'));
  data = new DataFolder(join(folder, 'data'));
  ids = [];
  await start();
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});

test('a restart from a snapshot has the same tasks, and the log before it is gone', async () => {
  // This worker takes no other type, so it holds no other lease that could expire.
  const session = new SessionUnderTest(server.url, 'http1', { types: [{ type: 'kept' }] });
  const { sessionId } = await session.welcomed();
  const content = largeJson(300_000);
  expect((await new BlobClient(server.url).put(content)).status).toBe(200);
  const inputBlob = sha256Of(content);
  await submit([{ type: 'kept', inputBlob }]);
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'succeeded', output: 'kept' }]);
  session.disconnect();
  await submitUntilTrimmed();
  const before = await views();

  await restart();

  expect(data.snapshots).toHaveLength(2);
  expect(data.firstRecord).toBeGreaterThan(0);
  expect(await views()).toEqual(before);
  const kept = before.filter((view) => view.state === 'succeeded');
  expect(kept).toMatchObject([{ inputBlob, output: 'kept' }]);
});

test('a torn newest snapshot gives way to the older one, which is said', async () => {
  await submitUntilTrimmed();
  const before = await views();
  await kill();
  const newest = data.snapshots.at(-1) ?? '';
  await truncate(newest, (await readFile(newest)).length - 1);

  await start();

  expect(await views()).toEqual(before);
  expect(server.lastOutput).toContain('a snapshot is unusable and was skipped');
});

test('a trimmed log without its snapshots is refused, with the record it begins with', async () => {
  await submitUntilTrimmed();
  await kill();
  for (const path of data.snapshots) await rm(path);

  await expect(start()).rejects.toThrow(`the log begins with record ${data.firstRecord}`);
});

test('a server that is killed with the fold that saves starts again with every task', async () => {
  let killed = 0;
  while (killed < 2) {
    await submitUntilTrimmed();
    const before = await views();
    // The server that is gone answers no more.
    await submitUntilSaving(killAll).catch(() => undefined);
    await kill();
    // A save may end before it is killed.
    if (data.unfinished.length > 0) killed += 1;

    await start();
    // Tasks that were acknowledged meanwhile are there too: `views` checks it.
    const after = await views();
    expect(after.slice(0, before.length)).toEqual(before);
  }
});

test('a fold that outlives its server ends, and the next server has every task', async () => {
  await submitUntilTrimmed();
  const first = server;
  let pids: number[] = [];
  const stopFold = () => {
    pids = foldProcessesOf(first.pid).filter((pid) => isSignalled(pid, 'SIGSTOP'));
  };
  // A fold may end before it is stopped.
  while (pids.length === 0) await submitUntilSaving(stopFold);
  api.close();
  first.signal('SIGKILL');
  await waitUntil(() => first.hasCrashed, { what: 'the server is gone', timeoutMs: 10_000 });

  await start();
  const before = await views();
  for (const pid of pids) isSignalled(pid, 'SIGCONT');
  // `exited` resolves when the last process that shares the output has closed it.
  await first.exited();
  await submitUntilTrimmed();
  await restart();

  expect((await views()).slice(0, before.length)).toEqual(before);
});

/** False when the process has ended meanwhile. */
function isSignalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
    return false;
  }
}

/** Submits until a fold saves, and does `what` at that moment. */
async function submitUntilSaving(what: () => void): Promise<void> {
  const snapshots = join(data.path, 'snapshots');
  let hasBegun = false;
  const watcher = watch(snapshots, (_, file) => {
    // The end of a save is an event of the same file.
    if (hasBegun || file?.endsWith('.unfinished') !== true) return;
    if (!existsSync(join(snapshots, file))) return;
    hasBegun = true;
    what();
  });
  try {
    while (!hasBegun) await submitMany(1);
  } finally {
    watcher.close();
  }
}

/** Kills the server and its folds, like a power loss of the machine. */
function killAll(): void {
  for (const pid of foldProcessesOf(server.pid)) process.kill(pid, 'SIGKILL');
  server.signal('SIGKILL');
}

async function start(): Promise<void> {
  server = await startSmallServer({ dataFolder: data.path, snapshotEveryBytes: EVERY_BYTES });
  api = new ApiClient(server.url, 'h2c');
}

async function kill(): Promise<void> {
  api.close();
  await server.kill();
}

async function restart(): Promise<void> {
  await kill();
  await start();
}

async function submit(tasks: readonly object[]): Promise<void> {
  const { status, body } = await api.post('/v1/tasks', tasks);
  expect(status).toBe(201);
  ids.push(...body.items.map(({ id }: { id: string }) => id));
}

async function submitMany(times: number): Promise<void> {
  const tasks = Array(TASKS_PER_SUBMIT).fill({ type: 'hello', input: 'x'.repeat(1000) });
  for (let i = 0; i < times; i++) await submit(tasks);
}

/** Submits until the log is trimmed, which takes two more snapshots. */
async function submitUntilTrimmed(): Promise<void> {
  const { firstRecord } = data;
  const giveUpAt = performance.now() + FOLD_MS_MAX;
  while (data.firstRecord <= firstRecord) {
    await submitMany(EVERY_BYTES / 1000 / TASKS_PER_SUBMIT);
    if (performance.now() > giveUpAt) throw new Error(`no trim: ${server.lastOutput}`);
  }
  // The last fold may still be running. When it ends, there are two snapshots.
  await waitUntil(() => data.snapshots.length === 2, {
    what: 'two snapshots are there',
    timeoutMs: FOLD_MS_MAX,
  });
}

interface View {
  readonly id: string;
  readonly state: string;
}

/** Every acknowledged task, as the server shows it. */
async function views(): Promise<View[]> {
  const seen: View[] = [];
  // A connection takes a limited number of requests at a time.
  for (let start = 0; start < ids.length; start += 50) {
    const some = ids.slice(start, start + 50).map((id) => api.get(`/v1/tasks/${id}`));
    const answers = await Promise.all(some);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    seen.push(...answers.map(({ body }) => body));
  }
  return seen;
}
