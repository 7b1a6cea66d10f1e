import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SNAPSHOT_SCHEMA } from '@sluice/core';
import { FileLog, FileSnapshots } from '@sluice/log';
import fc from 'fast-check';
import { Partition } from '../../packages/core/src/partition.ts';
import { decodeBatch } from '../../packages/core/src/testing/decode-batch.ts';
import {
  describeState,
  type StateDescription,
} from '../../packages/core/src/testing/describe-state.ts';
import { cancelledRun, rerunRun } from '../../packages/core/src/testing/runs/cancelled-run.ts';
import { busySchedules } from '../../packages/core/src/testing/schedules/busy-schedules.ts';
import { TestPartition } from '../../packages/core/src/testing/test-partition.ts';
import { testUtf8 } from '../../packages/core/src/testing/test-utf8.ts';
import { World } from '../../packages/core/src/testing/world/world.ts';
import {
  type Action,
  actions,
  passedMs,
} from '../../packages/core/src/testing/world/world-actions.ts';
import { LIMITS } from '../../packages/core/src/testing/world/world-arbitraries.ts';

/** The file beside a golden log: how to replay the log, and the expected result. */
export interface GoldenState {
  readonly limits: typeof LIMITS;
  readonly description: StateDescription;
}

const STEPS = 1500;
const SEGMENT_BYTES = 4096;
const SEEDS_MAX = 500;
const RUNS = 9;
/** Room for several runs at once, and for references to blobs. */
export const RUN_LIMITS = {
  ...LIMITS,
  tasksMax: 100,
  finishedTasksMax: 10,
  sessionsMax: 100,
  arenaChunkBytes: 1024,
};

/** Records of random commands in batches, with every type of event. */
export function makeBatches(types: readonly string[]): readonly Uint8Array[] {
  const size = { minLength: STEPS, maxLength: STEPS, size: 'max' } as const;
  const steps = fc.array(fc.tuple(actions, passedMs), size);
  let missing: readonly string[] = types;
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const [sample] = fc.sample(steps, { numRuns: 1, seed });
    const batches = batchesOf(sample);
    const met = typesIn(batches);
    const others = types.filter((type) => !met.has(type));
    if (others.length === 0) return batches;
    if (others.length < missing.length) missing = others;
  }
  throw new Error(`no seed leads to every type of event; at best ${missing} are missing`);
}

function batchesOf(steps: readonly (readonly [Action, number])[]): readonly Uint8Array[] {
  const world = new World();
  const { partition } = world;
  for (const [action, passed] of steps) {
    partition.now += passed;
    world.act(action);
  }
  return partition.log();
}

/** Records of runs and schedules in batches, with every type of event that they have. */
export function runBatches(): readonly Uint8Array[] {
  const partition = new TestPartition(RUN_LIMITS);
  for (let n = 0; n < RUNS; n++) {
    cancelledRun(partition);
    rerunRun(partition);
  }
  busySchedules(partition);
  return partition.log();
}

export function typesIn(batches: readonly Uint8Array[]): Set<string> {
  const events = batches.flatMap((batch) => decodeBatch(batch)).flatMap((record) => record.events);
  return new Set(events.map((event) => event.type));
}

/** Writes a folder as a server would leave it, with a snapshot of the first half of the log. */
export async function writeGoldenLog(
  folder: string,
  batches: readonly Uint8Array[],
  limits: typeof LIMITS = LIMITS,
): Promise<void> {
  const temporary = `${folder}.unfinished`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const partition = newPartition(limits);
  const log = await FileLog.open({ folder: join(temporary, 'log'), segmentBytes: SEGMENT_BYTES });
  const { epoch } = await log.acquire();
  let tail = 0;
  for (const [index, bytes] of batches.entries()) {
    const recordCount = decodeBatch(bytes).length;
    await log.append({ epoch, expectedTail: tail, nonce: index + 1, recordCount, bytes });
    partition.replay(bytes, tail);
    tail += recordCount;
    if (index === Math.floor(batches.length / 2)) await saveSnapshot(temporary, partition, tail);
  }
  await log.close();
  for (const file of readdirSync(join(temporary, 'log'))) {
    if (!file.endsWith('.log')) rmSync(join(temporary, 'log', file));
  }
  const state: GoldenState = { limits, description: describeState(partition.state) };
  writeFileSync(join(temporary, 'state.txt'), `${JSON.stringify(state)}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
}

async function saveSnapshot(folder: string, partition: Partition, position: number): Promise<void> {
  const store = await FileSnapshots.open(join(folder, 'snapshots'));
  const header = { position, schema: SNAPSHOT_SCHEMA, hash: partition.hashState(), base: 0 };
  await store.save(header, (write) => partition.save(write));
}

/** The batches of a golden log, read from a copy: opening a log changes its folder. */
export async function readGoldenLog(folder: string): Promise<Uint8Array[]> {
  const copy = await mkdtemp(join(tmpdir(), 'sluice-golden-'));
  try {
    await cp(join(folder, 'log'), copy, { recursive: true });
    const log = await FileLog.open({ folder: copy, segmentBytes: SEGMENT_BYTES });
    const batches: Uint8Array[] = [];
    await log.read(0, ({ bytes }) => batches.push(Uint8Array.from(bytes)));
    await log.close();
    return batches;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** The partition from the log alone, and the partition from its snapshot and the log after it. */
export async function replayGolden(folder: string, limits: typeof LIMITS): Promise<Partition[]> {
  const batches = await readGoldenLog(folder);
  const store = await FileSnapshots.open(join(folder, 'snapshots'));
  const [position] = await store.positions();
  const [fromLog, fromSnapshot] = [newPartition(limits), newPartition(limits)];
  fromSnapshot.load(await store.open(position));
  let record = 0;
  for (const batch of batches) {
    fromLog.replay(batch, record);
    if (record >= position) fromSnapshot.replay(batch, record);
    record += decodeBatch(batch).length;
  }
  return [fromLog, fromSnapshot];
}

function newPartition(limits: typeof LIMITS): Partition {
  return new Partition({ partition: 0, limits, utf8: testUtf8 });
}
