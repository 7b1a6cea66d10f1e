import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PartitionOptions, SubmitTasks } from '@sluice/core';
import { Engine, type EngineNotice, FencedError, foldInOwnProcess } from '@sluice/engine';
import { FOLD_MODULE, type PostgresLog, PostgresSnapshots } from '@sluice/postgres';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LIMITS = {
  tasksMax: 1000,
  finishedTasksMax: 50,
  deadLettersMax: 100,
  callbacksMax: 100,
  sessionsMax: 100,
  dedupeKeysMax: 100,
  payloadBytesMax: 10_000_000,
  unsentBytesMax: 100_000,
};
const PARTITION: PartitionOptions = {
  partition: 0,
  limits: LIMITS,
  utf8: { encode: (text) => encoder.encode(text), decode: (bytes) => decoder.decode(bytes) },
  hashEvery: 5,
};
const INPUT = encoder.encode(JSON.stringify('x'.repeat(3000)));

/** One server's parts. */
interface Running {
  readonly engine: Engine;
  readonly log: PostgresLog;
  readonly notices: EngineNotice[];
  readonly stops: Error[];
  close(): Promise<void>;
}

let store: TempStore;
let folder: string;
const running: Running[] = [];

beforeEach(async () => {
  store = await TempStore.create();
  folder = await mkdtemp(join(tmpdir(), 'sluice-scratch-'));
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
  await rm(folder, { recursive: true });
  await store.dispose();
});

async function start(everyBytes: number): Promise<Running> {
  const { address } = store;
  const scratch = join(folder, String(running.length));
  const log = await store.open({ segmentBytes: 16_384 });
  const snapshots = await PostgresSnapshots.open({ address, scratchFolder: `${scratch}-engine` });
  const notices: EngineNotice[] = [];
  const stops: Error[] = [];
  const { utf8: _, ...partition } = PARTITION;
  const options = { address, scratchFolder: `${scratch}-fold` };
  const engine = await Engine.start({
    log,
    partition: PARTITION,
    snapshots: {
      store: snapshots,
      startFold: foldInOwnProcess({ ...partition, source: { module: FOLD_MODULE, options } }),
      everyBytes,
    },
    outputs: { stage: () => undefined, seal: () => undefined },
    startTimer: () => () => undefined,
    clock: () => 1_000_000,
    nonce: () => Math.floor(Math.random() * 2 ** 53),
    atEndOfTurn: setImmediate,
    graceMsMin: 0,
    notify: (notice) => notices.push(notice),
    onStopped: (cause) => stops.push(cause),
  });
  const close = async () => {
    await engine.close();
    await log.close();
    await snapshots.close();
  };
  const started = { engine, log, notices, stops, close };
  running.push(started);
  return started;
}

function submit(engine: Engine): Promise<void> {
  const request = {
    type: 'submit_tasks',
    namespace: 'default',
    tasks: [{ type: 'hello' }],
    inputs: INPUT,
    inputEnds: [INPUT.length],
  } as const;
  return engine.execute<SubmitTasks, void>(request, () => undefined);
}

const countTasks = (engine: Engine) => engine.read((state) => state.tasks.count);

/** Submits until the engine has trimmed its log behind a snapshot. */
async function submitUntilTrimmed({ engine, notices }: Running): Promise<void> {
  const isTrimmed = () => notices.some(({ type }) => type === 'log_trimmed');
  while (!isTrimmed()) {
    const heard = notices.length;
    for (let i = 0; i < 12; i++) await submit(engine);
    await vi.waitUntil(() => notices.length > heard, { timeout: 60_000 });
  }
}

test('a process folds the log in the database, which is trimmed behind the older one', async () => {
  const server = await start(32_768);

  await submitUntilTrimmed(server);

  const { rows } = await store.query<{ position: string }>(
    'SELECT position FROM $schema.snapshot ORDER BY position',
  );
  const { rows: trimmed } = await store.query<{ first: number }>(
    'SELECT first_record::int AS first FROM $schema.partition',
  );
  expect(rows).toHaveLength(2);
  expect(trimmed[0].first).toBe(Number(rows[0].position));
  expect(server.notices.filter(({ type }) => type === 'fold_failed')).toEqual([]);
});

test('the next server has every task, and the one before it is fenced', async () => {
  const first = await start(32_768);
  await submitUntilTrimmed(first);
  const tasks = await countTasks(first.engine);

  const second = await start(2 ** 30);
  await expect(submit(first.engine)).rejects.toThrow();

  expect(first.stops).toEqual([expect.any(FencedError)]);
  expect(await countTasks(second.engine)).toBe(tasks);
  await submit(second.engine);
  expect(await countTasks(second.engine)).toBe(tasks + 1);
});

test('a server that starts with a damaged newest snapshot takes the older one', async () => {
  const first = await start(32_768);
  await submitUntilTrimmed(first);
  const tasks = await countTasks(first.engine);
  await first.close();
  const { rows } = await store.query<{ pieces: string }>(
    'SELECT pieces FROM $schema.snapshot ORDER BY position DESC LIMIT 1',
  );
  await store.query(`DELETE FROM $schema.${rows[0].pieces} WHERE piece = 0`);

  const second = await start(2 ** 30);

  expect(second.notices[0]).toMatchObject({ type: 'snapshot_unusable' });
  expect(await countTasks(second.engine)).toBe(tasks);
});
