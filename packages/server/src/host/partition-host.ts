import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Server as NetServer } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { EvaluationResult, ReadonlyState, ScriptsEvaluated } from '@sluice/core';
import type { Engine, FollowedPartition, Term } from '@sluice/engine';
import type { BoundedLog } from '@sluice/log';
import type { FastifyInstance } from 'fastify';
import { DEFAULTS, type ServerOptions } from '../assembly/server-options.ts';
import {
  courierOf,
  httpWorkerOf,
  openBlobs,
  openTaskLogs,
  quotasIn,
  startEngine,
} from '../assembly/server-parts.ts';
import type { ServerStore, StoreSnapshots } from '../assembly/server-store.ts';
import { STARTS_NOTE, STATS_NOTE } from '../base/note-names.ts';
import { BlobSweep } from '../blobs/blob-sweep.ts';
import type { RunningCourier } from '../callbacks/make-courier.ts';
import { TICK_MS } from '../clock/standstill.ts';
import { type ClockSources, SteadyClock } from '../clock/steady-clock.ts';
import { EMBEDDED_PARTITION } from '../config/embedded-partition.ts';
import { ConfigError } from '../config/load-config.ts';
import { isLoopback, noKeysProblem } from '../config/relations.ts';
import { LogStarts } from '../events/log-starts.ts';
import { Gateway } from '../gateway/gateway.ts';
import { ServerOutputs } from '../gateway/server-outputs.ts';
import type { HopTrust } from '../http/client.ts';
import type { RefusalDesk } from '../http/refusal.ts';
import type { HttpWorker } from '../http-steps/http-worker.ts';
import { Admission } from '../limits/admission.ts';
import { MemoryWatch } from '../limits/memory-watch.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import { Observation } from '../observation/observation.ts';
import type { ServerLog } from '../observation/server-log.ts';
import type { Projection } from '../projection/projection.ts';
import { QueueRates } from '../queues/queue-rates.ts';
import { Scripts } from '../scripts/scripts.ts';
import { Stats } from '../stats/stats.ts';
import { StatsKeeper } from '../stats/stats-keeper.ts';
import { TaskArchive } from '../tasks/task-archive.ts';
import { TaskWaiters } from '../tasks/task-waiters.ts';
import { WorkerStreams } from '../workers/worker-streams.ts';
import { type AppParts, buildApp } from './build-app.ts';

export interface HostOptions {
  readonly server: ServerOptions;
  readonly log: ServerLog;
  readonly store: ServerStore;
  /** Makes what passes requests to the handler. */
  readonly makeServer: (handler: RequestListener, desk: RefusalDesk) => NetServer;
  /** The machine's clock unless it is another. */
  readonly clock?: ClockSources;
  /** Set when other servers may take the partition over. */
  readonly term?: Term;
  /** A partition that has followed the log. */
  readonly followed?: FollowedPartition;
  /** A thread for the projection that was started before. */
  readonly parked?: Worker;
  /** Whose forwarded requests are believed. */
  readonly hopTrust?: HopTrust;
  /** What `GET /v1/cluster` shows of the servers that share the store. */
  readonly storeView?: () => Promise<object>;
}

/** What a host has opened so far, in the order in which it is closed after a failed start. */
interface Opened {
  log?: BoundedLog;
  snapshots?: StoreSnapshots;
  projection?: Projection;
  engine?: Engine;
  logs?: TaskLines;
  observation?: Observation;
}

/**
 * One partition with everything that decides, answers and remembers for it, but no socket. An
 * embedded server has one for as long as it runs; a server of a cluster has one while it is the
 * owner.
 */
export class PartitionHost {
  readonly app: FastifyInstance;
  readonly engine: Engine;
  readonly observation: Observation;
  private readonly parts: Parts;
  private readonly store: ServerStore;
  /** Set by `begin`. */
  private running: Running | undefined;
  /** Another server has the partition, so nothing more is written. */
  private isAbandoned = false;
  /** Set by the first `quiesce`. */
  private quiescing: Promise<void> | undefined;

  private constructor(parts: Parts, app: FastifyInstance, store: ServerStore) {
    this.app = app;
    this.engine = parts.engine;
    this.observation = parts.observation;
    this.parts = parts;
    this.store = store;
  }

  /** Nothing newer is written. */
  set level(level: number) {
    this.observation.partition.level = level;
  }

  /** Recovers, and makes ready to answer. */
  static async start(options: HostOptions): Promise<PartitionHost> {
    const opened: Opened = {};
    try {
      const parts = await openParts(options, opened);
      const app = buildApp(appOptions(options), parts);
      return new PartitionHost(parts, app, options.store);
    } catch (cause) {
      opened.engine?.stepDown(cause as Error);
      opened.observation?.close();
      await (opened.projection?.close() ?? options.parked?.terminate());
      opened.logs?.close();
      await opened.snapshots?.close();
      await opened.log?.close();
      await options.store.close();
      throw cause;
    }
  }

  /** From here on it acts by itself: callbacks, steps that call, sweeps. Requests may come. */
  async begin(): Promise<void> {
    const { parts } = this;
    const { engine, gateway, observation, clock, server } = parts;
    const courier = courierOf(server, parts);
    const httpWorker = httpWorkerOf(server, gateway);
    parts.acting.courier = courier;
    parts.acting.httpWorker = httpWorker;
    await Promise.all([courier.begin(), httpWorker.begin(engine)]);
    const sweep = new BlobSweep({ ...parts, onFailed: observation.blobsUnswept });
    sweep.start();
    const { stats, statsUnsaved: onUnsaved } = observation;
    this.running = {
      courier,
      httpWorker,
      sweep,
      stats: new StatsKeeper({ stats, engine, clock, onUnsaved }),
      ticker: setInterval(() => gateway.tick(), TICK_MS),
    };
  }

  /** Tells the workers, finishes open requests, and commits the last batch. */
  quiesce(drainMs: number): Promise<void> {
    this.quiescing ??= this.endWork(drainMs);
    return this.quiescing;
  }

  /** Lets go of the store without writing to it: the partition belongs to another server (L5). */
  async abandon(): Promise<void> {
    this.isAbandoned = true;
    await this.parts.projection.abandon();
    await this.close(0);
  }

  /** Lets go of the store. */
  async close(drainMs: number): Promise<void> {
    const { projection, log, logs, observation } = this.parts;
    await this.quiesce(drainMs);
    await projection.close();
    await log.close();
    logs.close();
    await this.parts.snapshots.close();
    observation.close();
    await this.store.close();
  }

  private async endWork(drainMs: number): Promise<void> {
    const { streams, waiters, scripts, engine } = this.parts;
    const { running } = this;
    clearInterval(running?.ticker);
    streams.drain();
    waiters.giveUp();
    const acting = [running?.courier, running?.httpWorker].map((each) => each?.close(drainMs));
    await Promise.all([this.app.close(), ...acting]);
    if (this.isAbandoned) running?.stats.stop();
    else await running?.stats.close();
    await running?.sweep.close();
    await scripts.close();
    await engine.close();
  }
}

interface Running {
  readonly courier: RunningCourier;
  readonly httpWorker: HttpWorker;
  readonly sweep: BlobSweep;
  readonly stats: StatsKeeper;
  readonly ticker: NodeJS.Timeout;
}

/** What acts by itself, once it has begun. Outputs are passed on to it. */
interface Acting {
  courier?: RunningCourier;
  httpWorker?: HttpWorker;
}

interface Parts extends AppParts {
  readonly server: ServerOptions;
  readonly streams: WorkerStreams;
  readonly snapshots: StoreSnapshots;
  readonly acting: Acting;
}

async function openParts(options: HostOptions, opened: Opened): Promise<Parts> {
  const { server, store } = options;
  const { log: stored, extent, files: logFiles } = await store.openLog();
  opened.log = stored;
  const log = server.wrapLog?.(stored) ?? stored;
  const observation = await observationOf(options);
  opened.observation = observation;
  const time = clockOf(options, observation);
  const clock = () => time.now();
  const streams = streamsOf(options, observation);
  const waiters = new TaskWaiters(quotasIn(server));
  const rates = new QueueRates(() => performance.now());
  const acting: Acting = {};
  const scripts = scriptsOf(() => ({ engine, blobs }));
  const outputs = new ServerOutputs(streams, waiters, rates, {
    observe: observation.staged,
    owed: (deliveries, state) => acting.courier?.staged(deliveries, state),
    evaluate: (asked) => scripts.evaluate(asked),
    serve: (namespaces) => acting.httpWorker?.serve(namespaces),
  });
  let gateway: Gateway | undefined;
  const beforeTimers = () => gateway?.beforeTimers();
  const snapshots = await store.openSnapshots();
  opened.snapshots = snapshots;
  const { term, followed, parked } = options;
  const { engine, projection } = await startEngine(server, {
    ...{ log, extent, outputs, clock: time, observation, beforeTimers, store, snapshots },
    ...(term && { term }),
    ...(followed && { followed }),
    ...(parked && { parked }),
  });
  Object.assign(opened, { projection, engine });
  await store.tidy();
  const logs = await openTaskLogs(server, store);
  opened.logs = logs;
  const blobs = await openBlobs(server, { store, observation, clock });
  observation.begin();
  const { state } = observation.partition;
  projection.follow(engine.feed, engine.position, state.programs.all());
  checkKeys(options, state);
  const admission = new Admission(engine, stored, memoryOf(server), term);
  gateway = gatewayOf({
    ...{ engine, admission, streams, rates, logs, blobs, clock, observation, projection },
  });
  const starts = await LogStarts.begin(store.note(STARTS_NOTE), engine.position);
  scripts.evaluate(await engine.read((_, partition) => partition.openEvaluations()));
  return {
    ...{ engine, admission, gateway, waiters, observation, log, projection, time, starts },
    ...{ logFiles, rates, logs, blobs, scripts, clock, server, streams, snapshots, acting },
  };
}

async function observationOf({ server, log, store, followed }: HostOptions): Promise<Observation> {
  const stats = await Stats.open(store.note(STATS_NOTE));
  const observation = new Observation(log, server.version, stats, server.makePartition);
  if (followed !== undefined) observation.use(followed.partition);
  return observation;
}

type GatewayParts = Pick<
  Parts,
  | 'engine'
  | 'admission'
  | 'streams'
  | 'rates'
  | 'logs'
  | 'blobs'
  | 'clock'
  | 'observation'
  | 'projection'
>;

function gatewayOf({ observation, ...parts }: GatewayParts): Gateway {
  const archive = new TaskArchive(parts);
  return new Gateway({
    ...parts,
    levelOf: () => observation.partition.level,
    ends: (namespace, ids) => archive.ends(namespace, ids),
    monotonic: () => performance.now(),
    random: Math.random,
    newSessionId: () => `s_${randomBytes(18).toString('base64url')}`,
    onRecognised: observation.recognised,
  });
}

/**
 * A server that other machines can reach needs a key, whatever else is configured
 * (access.open-without-keys).
 */
function checkKeys({ server, store }: HostOptions, { accessKeys }: ReadonlyState): void {
  if (isLoopback(server.host) || accessKeys.size > 0) return;
  throw new ConfigError([`host ${noKeysProblem(server.host, store.keyHint)}`]);
}

/** Engine and blobs are opened later, and nothing is evaluated before. */
function scriptsOf(parts: () => Pick<Parts, 'engine' | 'blobs'>): Scripts {
  const report = (results: readonly EvaluationResult[]) => reportScripts(parts().engine, results);
  return new Scripts(report, (blob) => parts().blobs.fileOf(blob));
}

/** A server that stops evaluates the scripts again when it starts. */
function reportScripts(engine: Engine, results: readonly EvaluationResult[]): void {
  const command = { type: 'scripts_evaluated', results } as const;
  engine.execute<ScriptsEvaluated, void>(command, () => undefined).catch(() => undefined);
}

/** Workers of a cluster have to notice soon that the owner's machine is gone. */
const CLUSTER_PING_MS = 2_000;

function streamsOf({ server, term }: HostOptions, { streamed }: Observation): WorkerStreams {
  const stalledMs = server.http?.stalledReaderMs ?? DEFAULTS.http.stalledReaderMs;
  const pingMs = term === undefined ? undefined : CLUSTER_PING_MS;
  return new WorkerStreams({ notify: streamed, stalledMs, ...(pingMs && { pingMs }) });
}

function memoryOf({ maxMemory = DEFAULTS.maxMemory }: ServerOptions): MemoryWatch {
  return new MemoryWatch(maxMemory);
}

function clockOf({ server, clock }: HostOptions, { timed }: Observation): SteadyClock {
  const { acceptClockJumps: acceptsJumps = false } = server;
  return new SteadyClock(clock, { acceptsJumps, notify: timed });
}

function appOptions({ server, store, makeServer, hopTrust, storeView }: HostOptions) {
  return {
    ...(hopTrust && { hopTrust }),
    ...(storeView && { storeView }),
    makeServer,
    hosts: [server.host, ...(server.allowedHosts ?? [])],
    limits: { ...DEFAULTS.http, ...server.http },
    version: server.version,
    commit: server.commit,
    dataFolder: store.folder,
    logEngine: store.engine,
    partition: server.partition ?? EMBEDDED_PARTITION,
  };
}
