import type { MatchingOptions, PartitionLimits } from '@sluice/core';
import { RandomStream } from '../kernel/random.ts';
import type { NetworkKnobs } from '../network/network.ts';
import {
  besideStandstills,
  drawFaults,
  drawLostNames,
  drawStandstills,
  drawTornWrites,
  inOrder,
  type PlannedFault,
} from './faults.ts';

/** All random decisions before a world begins. A failure is shrunk by making the plan smaller. */
export interface WorldPlan {
  readonly seed: number;
  readonly durationMs: number;
  readonly workers: number;
  /** Number of workers that do not follow the protocol. */
  readonly rogues: number;
  readonly clients: number;
  /** Mean time between two requests of a client. */
  readonly requestEveryMs: number;
  readonly network: NetworkKnobs;
  readonly limits: PartitionLimits;
  readonly matching: Partial<MatchingOptions>;
  readonly hashEvery: number;
  readonly graceMsMin: number;
  readonly serverDrift: number;
  readonly segmentBytes: number;
  readonly snapshotEveryBytes: number;
  readonly faults: readonly PlannedFault[];
  /** Workflows and their runs; undefined in worlds without them. */
  readonly runs: RunPlan | undefined;
  /** Undefined in worlds without schedules. */
  readonly schedules: SchedulePlan | undefined;
  /** Undefined in worlds without agents. */
  readonly agents: AgentPlan | undefined;
}

export interface AgentPlan {
  readonly agents: number;
  /** Mean time between two requests for programs. */
  readonly requestEveryMs: number;
  /** Worlds that are calm leave these out. */
  readonly faults: readonly AgentFault[];
}

interface AgentFault {
  readonly at: number;
  /** Number of the agent. */
  readonly who: number;
  readonly kind: 'killed' | 'rebooted' | 'engine away';
  /** Until it is there again. */
  readonly forMs: number;
}

export interface SchedulePlan {
  /** Mean time between two requests about schedules. */
  readonly requestEveryMs: number;
  /** The server is killed soon after a fire. Worlds that are calm leave these out. */
  readonly kills: readonly RunKill[];
}

interface RunPlan {
  /** Mean time between two requests about runs. */
  readonly requestEveryMs: number;
  /** Bound on the work for runs that one command does. */
  readonly unitsMax: number;
  /** The server is killed while runs have something to do. Worlds that are calm leave these out. */
  readonly kills: readonly RunKill[];
}

export interface RunKill {
  readonly at: number;
  /** From the first command that leaves something to do, or that fires a schedule. */
  readonly afterMs: number;
  readonly isPowerLoss: boolean;
  readonly restartAfterMs: number;
}

const RUN_KILLS_MAX = 20;
const RUN_KILL_AT_MAX = 200_000;

/** Share of worlds that have runs. The reference model of the core does not know them. */
const RUNS_RATE = 0.25;

/** Values of runs have at most half as many bytes. */
const RUN_CHUNK_BYTES = 2 ** 19;

/** Share of worlds that have schedules. The reference model does not know them either. */
const SCHEDULES_RATE = 0.25;

/** Share of worlds that have agents. */
const AGENTS_RATE = 0.25;
const AGENTS_MAX = 3;
const AGENT_FAULTS_MAX = 60;

/** Longer than any world lasts: in some worlds no room is ever reserved. */
export const NO_RESERVATIONS_MS = 86_400_000;

export function drawPlan(seed: number): WorldPlan {
  const random = new RandomStream(seed, 'plan');
  const durationMs = random.integer(60_000, 400_000);
  const workers = Math.round(random.logarithmic(1, 51));
  const clients = random.integer(1, 20);
  const requestsPerSecond = random.logarithmic(0.3, 10);
  const isCalm = random.chance(0.15);
  const hasRuns = new RandomStream(seed, 'has runs').chance(RUNS_RATE);
  const rate = (most: number) => (isCalm || random.chance(0.4) ? 0 : random.next() * most);
  const plan: WorldPlan = {
    seed,
    durationMs,
    workers,
    rogues: random.chance(0.5) ? Math.ceil(workers / 4) : 0,
    clients,
    requestEveryMs: (1000 * clients) / requestsPerSecond,
    network: {
      delayMs: random.logarithmic(0.1, 50),
      lossRate: rate(0.1),
      duplicateRate: rate(0.1),
      cutRate: rate(0.03),
    },
    limits: drawLimits(random),
    matching: {
      placement: random.pick(['spread', 'pack'] as const),
      reserveAfterMs: random.pick([1000, 10_000, NO_RESERVATIONS_MS]),
      ageAfterMs: random.pick([2000, 30_000]),
      agedLeaseEvery: random.pick([3, 8]),
    },
    hashEvery: random.pick([1, 7, 100]),
    graceMsMin: random.pick([5000, 15_000]),
    serverDrift: random.chance(0.3) ? (random.next() - 0.5) * 0.02 : 0,
    segmentBytes: random.pick([4096, 16_384, 262_144]),
    snapshotEveryBytes: random.pick([3000, 20_000, 200_000]),
    faults: isCalm ? [] : drawAllFaults(random, { seed, durationMs }),
    runs: undefined,
    schedules: new RandomStream(seed, 'has schedules').chance(SCHEDULES_RATE)
      ? drawSchedules(seed)
      : undefined,
    agents: new RandomStream(seed, 'has agents').chance(AGENTS_RATE)
      ? drawAgents(seed, isCalm)
      : undefined,
  };
  return hasRuns ? withRuns(plan) : plan;
}

/** The same world with runs of workflows. Every value that a run may have fits into a chunk. */
export function withRuns(plan: WorldPlan): WorldPlan {
  const limits = { ...plan.limits, arenaChunkBytes: RUN_CHUNK_BYTES };
  return { ...plan, limits, runs: drawRuns(plan.seed) };
}

function drawRuns(seed: number): RunPlan {
  const random = new RandomStream(seed, 'runs');
  const requestEveryMs = random.logarithmic(500, 10_000);
  const unitsMax = random.pick([1, 10, 1000]);
  return { requestEveryMs, unitsMax, kills: drawKills(random) };
}

export function drawSchedules(seed: number): SchedulePlan {
  const random = new RandomStream(seed, 'schedules');
  return { requestEveryMs: random.logarithmic(300, 10_000), kills: drawKills(random) };
}

export function drawAgents(seed: number, isCalm: boolean): AgentPlan {
  const random = new RandomStream(seed, 'agents');
  const faults = Array.from({ length: isCalm ? 0 : random.integer(1, AGENT_FAULTS_MAX) }, () => ({
    at: Math.round(random.next() * RUN_KILL_AT_MAX),
    who: random.integer(0, AGENTS_MAX - 1),
    kind: random.pick(['killed', 'killed', 'killed', 'rebooted', 'engine away'] as const),
    forMs: random.logarithmic(10, 20_000),
  }));
  const agents = random.integer(1, AGENTS_MAX);
  return { agents, requestEveryMs: random.logarithmic(500, 5000), faults };
}

function drawKills(random: RandomStream): RunKill[] {
  return Array.from({ length: random.integer(0, RUN_KILLS_MAX) }, () => ({
    at: Math.round(random.next() * RUN_KILL_AT_MAX),
    afterMs: random.logarithmic(0.1, 10),
    isPowerLoss: random.chance(0.3),
    restartAfterMs: random.logarithmic(10, 5000),
  }));
}

function drawAllFaults(
  random: RandomStream,
  { seed, durationMs }: Pick<WorldPlan, 'seed' | 'durationMs'>,
): PlannedFault[] {
  const standstills = drawStandstills(new RandomStream(seed, 'standstills'), durationMs);
  const others = drawFaults(random, durationMs);
  if (standstills.length > 0) return inOrder([...besideStandstills(others), ...standstills]);
  const tornWrites = drawTornWrites(new RandomStream(seed, 'torn writes'), durationMs);
  const lostNames = drawLostNames(new RandomStream(seed, 'lost names'), durationMs);
  return inOrder([...others, ...tornWrites, ...lostNames]);
}

function drawLimits(random: RandomStream): PartitionLimits {
  const isTight = random.chance(0.5);
  return {
    tasksMax: isTight ? random.integer(30, 200) : 2000,
    payloadBytesMax: isTight ? random.integer(20_000, 100_000) : 1_000_000,
    finishedTasksMax: random.pick([5, 20, 100]),
    deadLettersMax: random.pick([2, 10, 50]),
    callbacksMax: random.pick([5, 50, 1000]),
    dedupeKeysMax: isTight ? random.integer(20, 200) : 2000,
    unsentBytesMax: random.pick([2000, 20_000, 1_000_000]),
    sessionsMax: random.pick([10, 100, 100]),
    arenaChunkBytes: random.pick([4096, 65_536]),
    arenaCompaction: { liveShareMin: 0.9, slackChunks: 0, entriesMax: 3, bytesMax: 200 },
  };
}
