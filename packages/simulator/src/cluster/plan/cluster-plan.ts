import type { PartitionLimits } from '@sluice/core';
import { RandomStream } from '../../kernel/random.ts';
import type { Overrides } from '../../plan/overrides.ts';
import { type ClusterFault, drawClusterFaults } from './cluster-faults.ts';

interface ServerPlan {
  /** The newest level that its version knows. */
  readonly newestLevel: number;
  readonly clock: { readonly offsetMs: number; readonly drift: number };
}

/** What a seed decides about a world with several servers. */
export interface ClusterPlan {
  readonly seed: number;
  readonly durationMs: number;
  readonly servers: readonly ServerPlan[];
  readonly workers: number;
  readonly clients: number;
  /** Mean time between two requests of a client. */
  readonly requestEveryMs: number;
  /** Usual delay of a message. */
  readonly delayMs: number;
  readonly limits: PartitionLimits;
  readonly hashEvery: number;
  readonly segmentBytes: number;
  readonly snapshotEveryBytes: number;
  readonly faults: readonly ClusterFault[];
}

const LIMITS: PartitionLimits = {
  tasksMax: 2000,
  payloadBytesMax: 1_000_000,
  finishedTasksMax: 100,
  deadLettersMax: 50,
  callbacksMax: 50,
  dedupeKeysMax: 2000,
  unsentBytesMax: 1_000_000,
  sessionsMax: 100,
  arenaChunkBytes: 65_536,
  arenaCompaction: { liveShareMin: 0.9, slackChunks: 0, entriesMax: 3, bytesMax: 200 },
};

/** The level of every store at its start. */
export const FIRST_LEVEL = 1;

const HOUR_MS = 3_600_000;

/** Share of worlds with servers of two versions. */
const VERSIONS_RATE = 0.3;

/** The plan of a seed, without what a smaller world leaves out. */
export function clusterPlanOf(seed: number, overrides: Overrides): ClusterPlan {
  const plan = drawClusterPlan(seed);
  const { faults, workers = plan.workers, clients = plan.clients, until } = overrides;
  return {
    ...plan,
    ...{ workers, clients, durationMs: until ?? plan.durationMs },
    faults: faults === undefined ? plan.faults : faults.map((place) => plan.faults[place]),
  };
}

function drawClusterPlan(seed: number): ClusterPlan {
  const random = new RandomStream(seed, 'cluster plan');
  const durationMs = random.integer(15_000, 40_000);
  const hasVersions = random.chance(VERSIONS_RATE);
  const servers = Array.from({ length: random.pick([2, 2, 3, 4]) }, () => ({
    newestLevel: hasVersions ? random.pick([FIRST_LEVEL, FIRST_LEVEL + 1]) : FIRST_LEVEL,
    clock: {
      offsetMs: random.chance(0.3) ? Math.round((random.next() - 0.5) * 2 * HOUR_MS) : 0,
      drift: random.chance(0.5) ? (random.next() - 0.5) * 0.1 : 0,
    },
  }));
  return {
    seed,
    durationMs,
    servers,
    workers: random.integer(1, 3),
    clients: random.integer(2, 4),
    requestEveryMs: random.logarithmic(80, 500),
    delayMs: random.logarithmic(0.2, 5),
    limits: LIMITS,
    hashEvery: random.pick([7, 100]),
    segmentBytes: random.pick([2000, 20_000, 2 ** 28]),
    snapshotEveryBytes: random.pick([3000, 20_000, 2 ** 28]),
    faults: drawClusterFaults(random, durationMs),
  };
}
