import { CronCalendar } from '@sluice/calendar';
import { Partition, type PartitionOptions } from '@sluice/core';
import { type CommittedFeed, Engine, foldBetweenTurns } from '@sluice/engine';
import { type CommittedRange, STOP_READING } from '@sluice/log';
import { PostgresLog } from '@sluice/postgres';
import {
  Admission,
  Gateway,
  QueueRates,
  ServerOutputs,
  SteadyClock,
  TaskWaiters,
  TICK_MS,
  WorkerStreams,
} from '@sluice/server';
import {
  type ClusterMakers,
  type ClusterParts,
  type HostOrder,
  type PostgresMark,
  Standby,
  type StartedHost,
} from '@sluice/server/cluster';
import { UTF8 } from '../../base/utf8.ts';
import { inProcessAfter, type ProcessContext } from '../../kernel/process-context.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { ServerExchange } from '../../network/server-exchange.ts';
import { type Answer, carryOut, requestsOf } from '../../server/requests.ts';
import { SIM_BLOBS } from '../../server/sim-blobs.ts';
import type { SimDatabase } from '../database/sim-database.ts';
import type { ClusterPlan } from '../plan/cluster-plan.ts';
import type { ClusterNetwork } from '../wires/cluster-network.ts';
import type { SimIncoming, SimResponse } from '../wires/exchange.ts';
import { MarkWriter, markOf } from './mark-writer.ts';
import { SimSnapshots } from './sim-snapshots.ts';
import { TimedOutputs } from './timed-outputs.ts';

/** Is told what the servers say, to check it. */
export interface HostWatch {
  /** A request has reached a server. */
  arrived(machine: string, request: SimIncoming): void;
  /** A server asks another one, in the name of this request if it has one. */
  passesOn(machine: string, name: string | undefined): void;
  /** A server answers for the partition a request that it got at `askedAt`. */
  answered(said: Said & { readonly request: SimResponse['request'] }, answer: Answer): void;
  /** Pushes leave that were made at `askedAt`. */
  pushed(said: Said): void;
  /** A host serves. */
  serves(served: Served): void;
  /** A server halts, because the log has less than was committed. */
  halted(machine: string): void;
}

export interface Served {
  readonly machine: string;
  readonly epoch: number;
  readonly partition: Partition;
  /** Records that the host knows to be durable. */
  readonly position: number;
}

/** Whose word, and since when it may be old. */
export interface Said {
  readonly machine: string;
  readonly epoch: number;
  readonly askedAt: number;
}

interface MakerParts {
  readonly simulation: Simulation;
  readonly database: SimDatabase;
  readonly network: ClusterNetwork;
  readonly plan: ClusterPlan;
  readonly watch: HostWatch;
  readonly context: ProcessContext;
  readonly machine: string;
}

const GRACE_MS_MIN = 5_000;
const FILES = { logs: { append: () => Promise.resolve() }, blobs: SIM_BLOBS };
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789'];

export function simMakers(parts: MakerParts): ClusterMakers {
  const partition = partitionOf(parts.plan);
  return {
    startHost: (cluster, order) => startHost(parts, cluster, order),
    follow: ({ reader }, given) =>
      new Standby({
        ...given,
        follower: {
          log: reader,
          snapshots: new SimSnapshots(parts.database),
          partition,
          notify: () => undefined,
        },
        close: () => Promise.resolve(),
      }),
    park: () => undefined,
  };
}

export function partitionOf({ limits, hashEvery }: ClusterPlan): PartitionOptions {
  return { partition: 0, limits, utf8: UTF8, calendar: new CronCalendar(), hashEvery };
}

/** What acts and answers for the partition while a machine owns it. */
interface HostParts extends MakerParts {
  readonly order: HostOrder;
  readonly log: PostgresLog;
  readonly mark: PostgresMark;
  readonly clock: SteadyClock;
  readonly streams: WorkerStreams;
  readonly rates: QueueRates;
  readonly waiters: TaskWaiters;
}

interface StartedEngine {
  readonly engine: Engine;
  readonly partition: Partition;
}

async function startHost(
  parts: MakerParts,
  { address, newestLevel }: ClusterParts,
  order: HostOrder,
): Promise<StartedHost> {
  const { plan, context, watch, machine } = parts;
  const { monotonic } = context.process;
  const { epoch, now } = order;
  const log = await PostgresLog.open({ address, epoch, segmentBytes: plan.segmentBytes });
  const opened: HostParts = {
    ...{ ...parts, order, log },
    mark: markOf(parts),
    clock: new SteadyClock({ wall: now, monotonic }),
    streams: new WorkerStreams(),
    rates: new QueueRates(monotonic),
    waiters: new TaskWaiters(),
  };
  let gateway: Gateway | undefined;
  const { engine, partition } = await startEngine(opened, () => gateway?.beforeTimers());
  // What this version would write if nobody told it otherwise.
  partition.level = newestLevel;
  const admission = new Admission(engine, log, { isOver: false });
  gateway = gatewayOf(opened, { engine, admission });
  const clock = () => opened.clock.now();
  const requests = requestsOf({ engine, admission, gateway, clock });
  watch.serves({ epoch, partition, machine, position: engine.position });
  const host = hostOf(opened, { engine, partition, gateway });
  return { host, handler: handlerOf(opened, requests) as never };
}

async function startEngine(parts: HostParts, beforeTimers: () => void): Promise<StartedEngine> {
  const { plan, context, watch, machine, simulation, database, order, log, mark, clock } = parts;
  const { streams, waiters, rates } = parts;
  const { epoch, followed, term, onLost } = order;
  const options = partitionOf(plan);
  const store = new SimSnapshots(database);
  let partition = followed?.partition;
  const outputs = new TimedOutputs(
    new ServerOutputs(streams, waiters, rates, { owed: () => {}, evaluate: () => {} }),
    () => simulation.now,
    (askedAt) => watch.pushed({ machine, epoch, askedAt }),
  );
  const readLog = ({ from, upTo, onBatch }: CommittedRange) =>
    log.read(from, (batch) => (batch.firstRecord < upTo ? onBatch(batch) : STOP_READING));
  const engine = await Engine.start({
    ...{ log, term, outputs, partition: options },
    ...(followed && { followed }),
    makePartition: (given) => {
      partition = new Partition(given);
      return partition;
    },
    snapshots: {
      store,
      startFold: foldBetweenTurns({ partition: options, snapshots: store, readLog }),
      everyBytes: plan.snapshotEveryBytes,
    },
    feed: () => Promise.resolve({ from: mark.read().position, bufferBytesMax: 20_000 }),
    clock: () => clock.now(),
    onRecovered: (latest) => clock.notBefore(latest),
    nonce: () => Math.floor(context.random.next() * 2 ** 53),
    atEndOfTurn: (run) => void inProcessAfter(context, 0, run),
    startTimer: (delayMs, run) =>
      inProcessAfter(context, delayMs, () => {
        beforeTimers();
        run();
      }),
    graceMsMin: GRACE_MS_MIN,
    notify: () => undefined,
    onStopped: onLost,
  });
  return { engine, partition: partition as unknown as Partition };
}

function gatewayOf(
  { context, clock, streams, rates }: HostParts,
  given: { readonly engine: Engine; readonly admission: Admission },
): Gateway {
  const { random, process } = context;
  return new Gateway({
    ...FILES,
    ...given,
    ...{ streams, rates, clock: () => clock.now(), random: random.next },
    monotonic: process.monotonic,
    newSessionId: () => `s_${Array.from({ length: 24 }, () => random.pick(LETTERS)).join('')}`,
  });
}

function hostOf(
  { context, log, mark, streams, waiters }: HostParts,
  { engine, partition, gateway }: StartedEngine & { readonly gateway: Gateway },
): StartedHost['host'] {
  const ticker = setInterval(() => gateway.tick(), TICK_MS);
  const projection = new MarkWriter(mark, engine.feed as CommittedFeed, context);
  let quiet: Promise<void> | undefined;
  const endWork = async (): Promise<void> => {
    clearInterval(ticker);
    streams.drain();
    waiters.giveUp();
    await engine.close();
  };
  const quiesce = (): Promise<void> => {
    quiet ??= endWork();
    return quiet;
  };
  const close = async (): Promise<void> => {
    projection.stop();
    await quiesce();
    await log.close();
  };
  return {
    ...{ engine, quiesce, close, abandon: close },
    get level() {
      return partition.level;
    },
    set level(level: number) {
      partition.level = level;
    },
  };
}

function handlerOf(
  { simulation, watch, machine, order }: HostParts,
  requests: ReturnType<typeof requestsOf>,
) {
  return (_: SimIncoming, response: SimResponse): void => {
    const { request } = response;
    const said = { machine, epoch: order.epoch, askedAt: simulation.now, request };
    carryOut(requests, response as unknown as ServerExchange).then(
      (answer) => {
        if (answer === undefined) return;
        watch.answered(said, answer);
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(answer.body);
      },
      (cause: Error) => simulation.fail(cause),
    );
  };
}
