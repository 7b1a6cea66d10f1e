import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { PartitionOptions, SubmitTasks } from '@sluice/core';
import { FileLog, FileSnapshots } from '@sluice/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import type { EngineNotice } from './engine-notice.ts';
import { type FoldProcessOrder, foldInOwnProcess } from './start-fold-process.ts';
import { foldProcessesOf } from './testing/fold-processes.ts';
import { RecordingOutputs } from './testing/recording-outputs.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const PARTITION: PartitionOptions = {
  partition: 0,
  limits: {
    tasksMax: 1000,
    finishedTasksMax: 50,
    deadLettersMax: 100,
    callbacksMax: 100,
    sessionsMax: 100,
    dedupeKeysMax: 100,
    payloadBytesMax: 10_000_000,
    unsentBytesMax: 100_000,
  },
  utf8: {
    encode: (text) => encoder.encode(text),
    decode: (bytes) => decoder.decode(bytes),
  },
  hashEvery: 5,
};
const SEGMENT_BYTES = 16_384;
const INPUT = encoder.encode(JSON.stringify('x'.repeat(3000)));

let folder: string;
let log: FileLog;
let engine: Engine;
let notices: EngineNotice[];
let stops: Error[];
let hear: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-fold-'));
  notices = [];
  stops = [];
  hear = () => undefined;
});

afterEach(async () => {
  await engine.close();
  await log.close();
  await rm(folder, { recursive: true });
});

test('a process folds the log of a live engine, which trims it behind the older one', async () => {
  await start({ everyBytes: SEGMENT_BYTES });

  await submitUntil(() => said('log_trimmed'));

  const positions = await (await FileSnapshots.open(join(folder, 'snapshots'))).positions();
  const files = await readdir(join(folder, 'snapshots'));
  const segments = (await readdir(join(folder, 'log'))).filter((file) => file.endsWith('.log'));
  expect(positions).toHaveLength(2);
  expect(files).toHaveLength(2);
  expect(segments.every((file) => !file.startsWith('0'.repeat(16)))).toBe(true);
  expect(stops).toEqual([]);
});

test('a restart on the folders has every task, also when the newest snapshot is torn', async () => {
  await start({ everyBytes: SEGMENT_BYTES });
  await submitUntil(() => said('log_trimmed'));
  const tasks = await countTasks();

  await restart();
  expect(await countTasks()).toBe(tasks);
  await tearNewest();
  await restart();

  expect(await countTasks()).toBe(tasks);
  expect(notices).toMatchObject([{ type: 'snapshot_unusable' }, { type: 'recovered' }]);
});

test('a fold that cannot save is said, and the engine goes on', async () => {
  await start({ everyBytes: SEGMENT_BYTES, snapshotFolder: '/proc/nowhere' });

  await submitUntil(() => said('fold_failed'));

  expect(await submit()).toBeUndefined();
  expect(stops).toEqual([]);
});

test('a process that meets another state than the log says stops the engine (L3)', async () => {
  await start({ everyBytes: SEGMENT_BYTES });
  await submitUntil(() => said('snapshot_saved'));
  const store = await FileSnapshots.open(join(folder, 'snapshots'));
  const [position] = await store.positions();
  const { pieces, ...header } = await store.open(position);
  const copies = Array.from(pieces, (piece) => Uint8Array.from(piece));
  await store.save({ ...header, hash: header.hash + 1, base: 0 }, (write) => {
    for (const piece of copies) write(piece);
  });

  await submitUntil(() => stops.length > 0);

  expect(stops[0].message).toMatch('StateHashError');
});

test('a fold whose process is killed is said, and the next one makes up for it', async () => {
  await start({ everyBytes: SEGMENT_BYTES });
  while (foldProcessesOf(process.pid).length === 0) await submit();

  for (const pid of foldProcessesOf(process.pid)) process.kill(pid, 'SIGKILL');
  await submitUntil(() => said('snapshot_saved'));

  expect(notices).toContainEqual({
    type: 'fold_failed',
    reason: 'the process of the fold ended by SIGKILL',
  });
  expect(stops).toEqual([]);
});

test('a fold is in no group of the server, whose terminal signals all of a group', async () => {
  await start({ everyBytes: SEGMENT_BYTES });
  while (foldProcessesOf(process.pid).length === 0) await submit();

  const [pid] = foldProcessesOf(process.pid);

  const stat = await readFile(join('/proc', String(pid), 'stat'), 'utf8');
  expect(stat.split(' ')[4]).toBe(String(pid));
});

test('a kernel without memory ends a fold rather than its server', async () => {
  await start({ everyBytes: 2 ** 30 });
  await submit();
  const child = startProcess();
  const score = () => readFile(`/proc/${child.pid}/oom_score_adj`, 'utf8');

  while ((await score()) !== '1000\n') await setTimeout(5);

  child.send(orderBy(process.pid));
  expect(await once(child, 'message')).toContainEqual({ kind: 'saved' });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a fold whose server is gone saves nothing', async () => {
  await start({ everyBytes: 2 ** 30 });
  await submit();
  const child = startProcess();
  child.send(orderBy(process.pid + 1));

  const [outcome] = await once(child, 'message');
  await once(child, 'exit');

  expect(outcome).toMatchObject({ reason: expect.stringMatching('the server ended') });
  expect(await readdir(join(folder, 'snapshots'))).toEqual([]);
});

test('a process whose server is gone before it has said what to fold ends', async () => {
  await start({ everyBytes: 2 ** 30 });
  const child = startProcess();

  child.disconnect();

  const [code] = await once(child, 'exit');
  expect(code).not.toBe(0);
});

test('closing in the middle of a fold leaves folders that start again', async () => {
  await start({ everyBytes: 1 });
  await submit();
  const tasks = await countTasks();

  await restart();

  expect(await countTasks()).toBe(tasks);
});

function startProcess(): ChildProcess {
  return fork(new URL('./fold-process.ts', import.meta.url), {
    execArgv: [],
    serialization: 'advanced',
  });
}

function orderBy(serverPid: number): FoldProcessOrder {
  const { utf8: _, ...partition } = PARTITION;
  const source = { logFolder: join(folder, 'log'), snapshotFolder: join(folder, 'snapshots') };
  return { ...partition, source, upTo: 1, serverPid };
}

async function start(options: { everyBytes: number; snapshotFolder?: string }): Promise<void> {
  const logFolder = join(folder, 'log');
  const snapshotFolder = join(folder, 'snapshots');
  log = await FileLog.open({ folder: logFolder, segmentBytes: SEGMENT_BYTES });
  const { utf8: _, ...partition } = PARTITION;
  engine = await Engine.start({
    log,
    partition: PARTITION,
    snapshots: {
      store: await FileSnapshots.open(snapshotFolder),
      startFold: foldInOwnProcess({
        ...partition,
        source: { logFolder, snapshotFolder, ...options },
      }),
      everyBytes: options.everyBytes,
    },
    outputs: new RecordingOutputs(),
    startTimer: () => () => undefined,
    clock: () => 1_000_000,
    nonce: () => Math.floor(Math.random() * 2 ** 53),
    atEndOfTurn: setImmediate,
    graceMsMin: 0,
    notify: (notice) => {
      notices.push(notice);
      hear();
    },
    onStopped: (cause) => {
      stops.push(cause);
      hear();
    },
  });
}

async function restart(): Promise<void> {
  await engine.close();
  await log.close();
  notices = [];
  await start({ everyBytes: 2 ** 30 });
}

function said(type: EngineNotice['type']): boolean {
  return notices.some((notice) => notice.type === type);
}

/** Repeatedly submits enough for a fold and waits for its outcome. */
async function submitUntil(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    for (let i = 0; i < 8; i++) await submit().catch(() => undefined);
    if (!isOver()) await heard;
  }
}

function submit(): Promise<void> {
  const tasks = [{ type: 'hello' }];
  const request = {
    type: 'submit_tasks',
    namespace: 'default',
    tasks,
    inputs: INPUT,
    inputEnds: [INPUT.length],
  } as const;
  return engine.execute<SubmitTasks, void>(request, () => undefined);
}

function countTasks(): Promise<number> {
  return engine.read((state) => state.tasks.count);
}

async function tearNewest(): Promise<void> {
  const files = (await readdir(join(folder, 'snapshots'))).sort();
  const path = join(folder, 'snapshots', files.at(-1) ?? '');
  const bytes = await readFile(path);
  await writeFile(path, bytes.subarray(0, bytes.length / 2));
}
