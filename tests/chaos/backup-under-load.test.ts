import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { receiveBackup } from '../../packages/cli/src/backup/receive-backup.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { restoreInto, takeBackup } from '../support/backup-commands.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { BackupLoad, type Known } from './backup-load.ts';
import { DataFolder, startSmallServer } from './data-folder.ts';

/** Small enough that a fold is nearly always running, and most tasks are only in files. */
const FOLD_BYTES = 200_000;
const FINISHED_TASKS_MAX = 100;
/** Enough tasks that a backup does not fit into the buffers of the connection. */
const TASKS_MIN = 10_000;
const PIECE_BYTES = 2 * 2 ** 20;

let folder: string;
let data: DataFolder;
let server: ServerProcess;
let load: BackupLoad;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'));
  data = new DataFolder(join(folder, 'data'));
  server = await start(data.path);
  load = new BackupLoad(server.url);
  load.start();
});

afterEach(async () => {
  await load.stop();
  await server.kill();
  await rm(folder, { recursive: true });
});

function start(dataFolder: string): Promise<ServerProcess> {
  return startSmallServer({
    dataFolder,
    snapshotEveryBytes: FOLD_BYTES,
    finishedTasksMax: FINISHED_TASKS_MAX,
  });
}

/** There are enough finished tasks, most of them only in files, and the log was trimmed. */
async function enoughTasks(): Promise<void> {
  const isEnough = () => load.known.finished.size > TASKS_MIN && data.firstRecord > 0;
  await waitUntil(isEnough, { what: 'there is enough to copy', timeoutMs: 300_000 });
}

async function foldedAgain(): Promise<void> {
  const { newestPosition } = data;
  const isFolded = () => data.newestPosition > newestPosition;
  await waitUntil(isFolded, { what: 'the log is folded', timeoutMs: 300_000 });
}

async function trimmedAgain(): Promise<void> {
  const { firstRecord } = data;
  const isTrimmed = () => data.firstRecord > firstRecord;
  await waitUntil(isTrimmed, { what: 'the log is trimmed', timeoutMs: 300_000 });
}

interface Task {
  readonly id: string;
  readonly state: string;
  readonly output: unknown;
}

/** Every task that a search finds once the projection has read the whole log. */
async function found(api: ApiClient): Promise<Task[]> {
  const isFresh = async () => (await api.get('/v1/cluster')).body.projection.lagRecords === 0;
  await waitUntil(isFresh, { what: 'search is up to date', timeoutMs: 300_000 });
  const tasks: Task[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, body } = await api.get(`/v1/tasks?limit=1000${more}`);
    expect(status).toBe(200);
    tasks.push(...body.items);
    cursor = body.nextCursor;
  }
  return tasks;
}

/**
 * The backup holds everything that was acknowledged before it. It holds no success that was not
 * reported before its end.
 */
function compare(tasks: readonly Task[], before: Known, after: Known): void {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  expect(byId.size).toBe(tasks.length);
  expect([...before.submitted].filter((id) => !byId.has(id))).toEqual([]);
  const states = new Map(tasks.map(({ id, state }) => [id, state]));
  expect([...before.finished].filter((id) => states.get(id) !== 'succeeded')).toEqual([]);
  for (const { id, state, output } of tasks) {
    if (state === 'succeeded') expect([id, after.reported.has(id)]).toEqual([output, true]);
    else expect([id, state]).toEqual([id, 'queued']);
  }
}

/** Takes the copy in parts, and lets the server fold its log between them. */
async function takeSlowly(copy: string): Promise<void> {
  async function* slowly(): AsyncGenerator<Uint8Array> {
    let untilPause = PIECE_BYTES;
    const { body } = await fetch(`${server.url}/v1/backup`);
    for await (const piece of body ?? []) {
      yield piece;
      untilPause -= piece.length;
      if (untilPause > 0) continue;
      untilPause = PIECE_BYTES;
      await foldedAgain();
    }
  }
  await mkdir(copy);
  await receiveBackup(slowly(), copy, () => undefined);
}

/**
 * Starts a server on the restored data, and checks that the data is complete and the server works.
 */
async function check(restored: string, before: Known, after: Known): Promise<void> {
  const other = await start(restored);
  const api = new ApiClient(other.url, 'http1');
  try {
    compare(await found(api), before, after);
    const more = new BackupLoad(other.url);
    more.start();
    const isEnough = () => more.known.finished.size > 1000;
    await waitUntil(isEnough, { what: 'the restored server works', timeoutMs: 300_000 });
    await more.stop();

    // These include tasks that were queued in the backup.
    const tasks = new Map((await found(api)).map((task) => [task.id, task]));
    for (const id of [...more.known.finished, ...before.finished]) {
      expect([id, tasks.get(id)?.output]).toEqual([id, id]);
    }
    expect(other.lastOutput).not.toContain('error');
  } finally {
    api.close();
    await other.kill();
  }
}

test.each([
  ['at once', (copy: string) => takeBackup(server.url, copy)],
  ['slowly', takeSlowly],
])('a backup that is taken %s holds what was acknowledged before', async (_, take) => {
  await enoughTasks();
  const [copy, restored] = [join(folder, 'copy'), join(folder, 'restored')];
  const before = load.known;

  await take(copy);
  const after = load.known;
  await restoreInto(restored, copy);

  await check(restored, before, after);
  // Trimming continues after a backup.
  await trimmedAgain();
});
