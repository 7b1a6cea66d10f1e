/**
 * The first large run of a process: its code is cold, so its commands take many times as long as
 * later ones. Each row is measured in a fresh process.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Command,
  type Replies,
  runIdText,
  SNAPSHOT_SCHEMA,
  type TaskNumber,
} from '@sluice/core';
import type { Figure, Row } from '../../row.ts';
import { FORK_OF_ITEMS, FORK_OF_TASKS, forksOfItems, immediateSteps } from '../definitions.ts';
import { RunLoad } from '../run-load.ts';

const SESSION = 'bench';
const SLOTS = 2000;
/** Leases that one report ends. */
const BATCH = 100;
const CHAIN = 1000;
const ITEMS = Array.from({ length: 10_000 }, () => ({ at: 0 }));
/** Forks of one run: with its other steps nearly 50,000. */
const CANCELLED = [10_000, 10_000, 10_000, 10_000, 9900];

/** Notes the longest command after the definition was registered. */
class TimedLoad extends RunLoad {
  longestMs = 0;
  /** Processor time of this thread alone: on a busy machine the clock says little. */
  longestCpuMs = 0;

  protected override execute<C extends Command>(request: Omit<C, 'now'>): Replies[C['type']] {
    const cpuBefore = cpuMs();
    const before = performance.now();
    const reply = super.execute<C>(request);
    this.longestMs = Math.max(this.longestMs, performance.now() - before);
    this.longestCpuMs = Math.max(this.longestCpuMs, cpuMs() - cpuBefore);
    return reply;
  }
}

export const coldFork: Row = {
  measure: async () => {
    const load = new TimedLoad(FORK_OF_ITEMS);
    load.attach(SESSION, SLOTS);
    load.startWith({ items: ITEMS });
    finish(load);
    return longest('a first fork of 10,000', load);
  },
};

export const coldForkOfTasks: Row = {
  measure: async () => {
    const load = new TimedLoad(FORK_OF_TASKS);
    load.attach(SESSION, SLOTS);
    const tasks = ITEMS.map((_, n) => ({ taskReferenceName: `b${n}`, name: 'bench' }));
    const inputs = Object.fromEntries(ITEMS.map((item, n) => [`b${n}`, item]));
    load.startWith({ tasks, inputs });
    finish(load);
    return longest('a first fork of a list of 10,000 tasks', load);
  },
};

export const coldChain: Row = {
  measure: async () => {
    const load = new TimedLoad(immediateSteps(CHAIN));
    load.startWith({ at: 0 });
    finish(load);
    return longest('a first chain of 1,000 immediate steps', load);
  },
};

interface Saved {
  readonly hash: number;
  readonly id: string;
  readonly sizes: readonly number[];
}

/** A server starts, and the first thing that it hears is the cancel. */
export const coldCancel: Row = {
  prepare: async ({ folder }) => {
    const load = new RunLoad(forksOfItems(CANCELLED.length));
    const lists = CANCELLED.map((count, n) => [`items${n}`, ITEMS.slice(0, count)]);
    load.startWith(Object.fromEntries(lists));
    while (load.hasWork) load.proceed();
    const { partition } = load;
    const { number, startedAt } = partition.state.runs.table;
    const key = { partition: 0, number: number[0] as TaskNumber, submittedAt: startedAt[0] };
    const pieces: Uint8Array[] = [];
    partition.save((piece) => pieces.push(piece.slice()));
    const sizes = pieces.map(({ length }) => length);
    const saved: Saved = { hash: partition.hashState(), id: runIdText(key), sizes };
    await writeFile(join(folder, 'state'), pieces);
    await writeFile(join(folder, 'saved.json'), JSON.stringify(saved));
  },
  measure: async ({ folder }) => {
    const { hash, id, sizes } = JSON.parse(
      await readFile(join(folder, 'saved.json'), 'utf8'),
    ) as Saved;
    const state = await readFile(join(folder, 'state'));
    let at = 0;
    const pieces = sizes.map((size) => {
      at += size;
      return state.subarray(at - size, at);
    });
    const load = new TimedLoad();
    load.partition.load({ schema: SNAPSHOT_SCHEMA, hash, pieces });
    load.cancel(id);
    finish(load);
    return longest('a first cancel of 50,000 steps', load);
  },
};

/** Answers all tasks until the run has ended. */
function finish(load: TimedLoad): void {
  const leases = load.granted();
  while (load.ended === 0) {
    if (leases.length > 0) load.complete(SESSION, leases.splice(0, BATCH));
    else if (load.hasWork) load.proceed();
    else throw new Error('the run waits for nothing');
    leases.push(...load.granted());
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function longest(what: string, { longestMs, longestCpuMs }: TimedLoad): readonly Figure[] {
  return [
    { what: `${what}: longest command`, unit: 'ms', value: longestMs, target: '≤ 20' },
    { what: `${what}: CPU of the longest`, unit: 'ms', value: longestCpuMs },
  ];
}
