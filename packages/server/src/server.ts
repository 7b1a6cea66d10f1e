import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import type { MatchingOptions, PartitionLimits, ReadonlyState } from '@sluice/core';
import { type AdmissionBounds, Engine, type FeedOptions, foldInOwnProcess } from '@sluice/engine';
import { type BoundedLog, FileLog, FileSnapshots } from '@sluice/log';
import type { FastifyInstance } from 'fastify';
import { Admission } from './admission.ts';
import { removeStaged } from './backup/backup-files.ts';
import { refuseUnfinishedRestore } from './backup/unfinished-restore.ts';
import { BlobStore } from './blobs/blob-store.ts';
import { BlobSweep } from './blobs/blob-sweep.ts';
import { buildApp } from './build-app.ts';
import { makeCourier, type RunningCourier } from './callbacks/make-courier.ts';
import { EMBEDDED_PARTITION } from './config/embedded-partition.ts';
import { ConfigError, loadConfig } from './config/load-config.ts';
import { isLoopback } from './config/relations.ts';
import type { Configuration } from './config/settings.ts';
import { LogStarts } from './events/log-starts.ts';
import { Gateway } from './gateway.ts';
import {
  type Certificate,
  CertificateError,
  type CertificateFiles,
  CertificateWatcher,
  readCertificate,
} from './http/certificate.ts';
import { urlOf } from './http/server-url.ts';
import { TaskLogs } from './logs/task-logs.ts';
import { MemoryWatch } from './memory-watch.ts';
import { Observation } from './observation.ts';
import { partitionLimits } from './partition-limits.ts';
import { Projection } from './projection/projection.ts';
import { QueueRates } from './queues/queue-rates.ts';
import { ServerLog } from './server-log.ts';
import { ServerOutputs } from './server-outputs.ts';
import { TICK_MS } from './standstill.ts';
import { Stats } from './stats/stats.ts';
import { StatsKeeper } from './stats/stats-keeper.ts';
import { SteadyClock } from './steady-clock.ts';
import { TaskWaiters } from './tasks/task-waiters.ts';
import { UTF8 } from './utf8.ts';
import { WorkerStreams } from './workers/worker-streams.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Everything that must survive lives below this folder. */
  readonly dataFolder: string;
  readonly version: string;
  /** Of the partition in the data folder. */
  readonly partition?: number;
  /** Called once when the server can no longer keep its promises; the process should end. */
  readonly onFatal: (cause: Error) => void;
  readonly limits?: Partial<Configuration['limits']>;
  /** What one namespace may use of them. */
  readonly quotas?: Partial<Configuration['quotas']>;
  /** How long finished tasks are kept for search, and how much of them. */
  readonly retention?: Configuration['retention'];
  /** Who may be called back, and how many at once. */
  readonly callbacks?: Configuration['callbacks'];
  /** Bytes of the whole process; above it submits are refused. */
  readonly maxMemory?: number;
  /** Bounds of requests and connections, where they are not the usual ones. */
  readonly http?: Partial<Configuration['http']>;
  /** Names beside loopback and `host` that a request may have been sent to. */
  readonly allowedHosts?: readonly string[];
  /** Everything is encrypted when there is a certificate. */
  readonly tls?: CertificateFiles;
  readonly matching?: Partial<MatchingOptions>;
  /** Time that requests under way have to finish in `close`; then their connections are cut. */
  readonly drainMs?: number;
  /** Follows a wall clock that jumps ahead by more than an hour. */
  readonly acceptClockJumps?: boolean;
  /** Only what went wrong is said unless somebody wants to hear more. */
  readonly log?: ServerLog;
  /** What may wait for the disk; tests have less. */
  readonly admission?: AdmissionBounds;
  /** Stands between engine and log; tests stop the world with it. */
  readonly wrapLog?: (log: BoundedLog) => BoundedLog;
  /** Makes the partition; tests make one that they can watch. */
  readonly makePartition?: Observation['makePartition'];
  /** Bytes of log after which the next snapshot is made and the log trimmed. */
  readonly snapshotEveryBytes?: number;
  /** Size of the log's segments, which are trimmed as a whole. */
  readonly segmentBytes?: number;
  /** The projection writes open tasks after so long, and the log is kept for it until then. */
  readonly openRecordMsMax?: number;
}

const DEFAULTS = loadConfig({ flags: {}, env: {} }).config;

const GRACE_MS_MIN = 15_000;

/** The embedded server: one partition on a file log, with HTTP around it. */
export class Server {
  readonly url: string;
  private readonly app: FastifyInstance;
  private readonly engine: Engine;
  private readonly log: BoundedLog;
  private readonly logs: TaskLogs;
  private readonly sweep: BlobSweep;
  private readonly projection: Projection;
  private readonly streams: WorkerStreams;
  private readonly waiters: TaskWaiters;
  private readonly courier: RunningCourier;
  private readonly drainMs: number;
  private readonly ticker: NodeJS.Timeout;
  /** Absent without TLS. */
  private readonly watcher: CertificateWatcher | undefined;
  private readonly observation: Observation;
  private readonly stats: StatsKeeper;

  private constructor(parts: Parts, url: string) {
    this.url = url;
    this.drainMs = parts.drainMs;
    this.courier = parts.courier;
    this.app = parts.app;
    this.engine = parts.engine;
    this.log = parts.log;
    this.logs = parts.logs;
    this.projection = parts.projection;
    this.streams = parts.streams;
    this.waiters = parts.waiters;
    this.observation = parts.observation;
    this.watcher = parts.watcher;
    this.ticker = setInterval(() => parts.gateway.tick(), TICK_MS);
    const { engine, clock, observation } = parts;
    this.sweep = new BlobSweep({ ...parts, onFailed: observation.blobsUnswept });
    this.sweep.start();
    const { stats, statsUnsaved } = observation;
    this.stats = new StatsKeeper({ stats, engine, clock, onUnsaved: statsUnsaved });
  }

  /**
   * Recovers from the log, then listens: no request meets a server that does not know its tasks.
   */
  static async start(options: ServerOptions): Promise<Server> {
    const certificate = options.tls && (await certificateOf(options.tls));
    const file = await openLog(options);
    const log = options.wrapLog?.(file) ?? file;
    const serverLog = options.log ?? ServerLog.onStderr('error');
    const stats = await Stats.open(join(options.dataFolder, 'stats.json'));
    const observation = new Observation(serverLog, options.version, stats, options.makePartition);
    let projection: Projection | undefined;
    try {
      const time = clockOf(options, observation);
      const now = () => time.now();
      const streams = new WorkerStreams({
        notify: observation.streamed,
        stalledMs: options.http?.stalledReaderMs ?? DEFAULTS.http.stalledReaderMs,
      });
      const waiters = new TaskWaiters();
      const rates = new QueueRates(() => performance.now());
      const logs = await openTaskLogs(options);
      const blobs = await openBlobs(options, observation, now);
      let courier: RunningCourier | undefined;
      const outputs = new ServerOutputs(streams, waiters, rates, {
        observe: observation.staged,
        owed: (deliveries, state) => courier?.staged(deliveries, state),
      });
      let gateway: Gateway | undefined;
      const beforeTimers = () => gateway?.beforeTimers();
      projection = await startProjection(options, observation);
      const { feedOptions } = projection;
      const parts = { log, outputs, clock: time, observation, beforeTimers, feedOptions };
      const engine = await startEngine(options, parts);
      if (engine.feed !== undefined) projection.follow(engine.feed, engine.position);
      observation.begin();
      checkKeys(options.host, observation.partition.state);
      const memory = new MemoryWatch(options.maxMemory ?? DEFAULTS.maxMemory);
      const admission = new Admission(engine, file, memory);
      gateway = new Gateway({
        engine,
        admission,
        streams,
        rates,
        logs,
        blobs,
        clock: now,
        monotonic: () => performance.now(),
        random: Math.random,
        newSessionId: () => `s_${randomBytes(18).toString('base64url')}`,
        onRecognised: observation.recognised,
      });
      const shared = { engine, admission, gateway, waiters, observation, log, projection, time };
      const startsFile = join(options.dataFolder, 'starts.json');
      const starts = await LogStarts.begin(startsFile, engine.position);
      const served = { ...shared, starts, logFiles: file, rates, logs, blobs, clock: now };
      const app = buildApp(appOptions(options, certificate), served);
      await app.listen({ host: options.host, port: options.port });
      courier = courierOf(options, served);
      await courier.begin();
      const url = urlOf(app, options.host, certificate !== undefined);
      serverLog.line('info', 'the server listens', { url, version: options.version });
      const watcher = watchCertificate(app, options.tls, certificate, serverLog);
      const { drainMs = DEFAULTS.drainMs } = options;
      return new Server({ ...served, app, courier, streams, watcher, drainMs }, url);
    } catch (cause) {
      observation.close();
      await projection?.close();
      await log.close();
      throw cause;
    }
  }

  /** New connections get the certificate that its files hold now. Never rejects. */
  async reloadCertificate(): Promise<void> {
    await this.watcher?.look();
  }

  /** Tells the workers, finishes what is in flight, and lets go of the data folder. */
  async close(): Promise<void> {
    this.observation.log.line('info', 'the server stops');
    clearInterval(this.ticker);
    this.watcher?.stop();
    this.streams.drain();
    this.waiters.giveUp();
    await Promise.all([this.app.close(), this.courier.close(this.drainMs)]);
    await this.stats.close();
    await this.sweep.close();
    await this.engine.close();
    await this.projection.close();
    await this.log.close();
    this.logs.close();
    this.observation.close();
    this.observation.log.line('info', 'the server has stopped');
  }
}

function courierOf(
  { version, callbacks = DEFAULTS.callbacks }: ServerOptions,
  parts: Pick<Parts, 'engine' | 'admission' | 'projection' | 'observation' | 'clock'>,
): RunningCourier {
  const { observation, ...rest } = parts;
  const onTried = observation.callbacks.tried;
  return makeCourier(callbacks, { ...rest, version, startTimer, onTried });
}

/** Whatever else is configured, nobody is let in from elsewhere without a key (A1). */
function checkKeys(host: string, { accessKeys }: ReadonlyState): void {
  if (isLoopback(host) || accessKeys.size > 0) return;
  throw new ConfigError([
    `host '${host}' can be reached from other machines, and the server has no keys: make the ` +
      "first one with 'sluice key create --role admin --data DIR', and start it then",
  ]);
}

function clockOf(
  { acceptClockJumps: acceptsJumps = false }: ServerOptions,
  { timed }: Observation,
) {
  return new SteadyClock(undefined, { acceptsJumps, notify: timed });
}

interface Parts {
  readonly app: FastifyInstance;
  readonly courier: RunningCourier;
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly log: BoundedLog;
  readonly logs: TaskLogs;
  readonly blobs: BlobStore;
  readonly projection: Projection;
  readonly streams: WorkerStreams;
  readonly waiters: TaskWaiters;
  readonly observation: Observation;
  readonly watcher: CertificateWatcher | undefined;
  readonly clock: () => number;
  readonly drainMs: number;
}

interface EngineParts {
  readonly log: BoundedLog;
  readonly outputs: ServerOutputs;
  readonly clock: SteadyClock;
  readonly observation: Observation;
  readonly beforeTimers: () => void;
  readonly feedOptions: FeedOptions;
}

const DAY_MS = 24 * 60 * 60 * 1000;

function openTaskLogs({ dataFolder, retention = DEFAULTS.retention }: ServerOptions) {
  const ageMs = retention.days * DAY_MS;
  return TaskLogs.open({ folder: join(dataFolder, 'task-logs'), ageMs });
}

function openBlobs(
  { dataFolder }: ServerOptions,
  { blobDamaged }: Observation,
  clock: () => number,
): Promise<BlobStore> {
  return BlobStore.open({ folder: join(dataFolder, 'blobs'), clock, onDamaged: blobDamaged });
}

function startProjection(options: ServerOptions, observation: Observation): Promise<Projection> {
  const { days, bytesMax } = options.retention ?? DEFAULTS.retention;
  return Projection.start({
    folder: join(options.dataFolder, 'projection'),
    retention: { ageMs: days * DAY_MS, bytesMax },
    openMsMax: options.openRecordMsMax,
    notify: observation.projected,
  });
}

/** Takes over the log and gives the partition its clock, its timers and its snapshots. */
async function startEngine(options: ServerOptions, parts: EngineParts): Promise<Engine> {
  const { log, outputs, clock, observation, beforeTimers, feedOptions } = parts;
  const logFolder = logFolderOf(options);
  const snapshotFolder = join(options.dataFolder, 'snapshots');
  const limits = limitsOf(options);
  const number = options.partition ?? EMBEDDED_PARTITION;
  const partition = { partition: number, limits, matching: options.matching ?? {} };
  return Engine.start({
    log: observation.measured(log),
    partition: { ...partition, utf8: UTF8 },
    makePartition: observation.makePartition,
    snapshots: {
      store: await FileSnapshots.open(snapshotFolder),
      startFold: foldInOwnProcess({ ...partition, logFolder, snapshotFolder }),
      everyBytes: options.snapshotEveryBytes ?? DEFAULTS.snapshotEveryBytes,
    },
    outputs,
    feed: feedOptions,
    ...(options.admission === undefined ? {} : { admission: options.admission }),
    clock: () => clock.now(),
    onRecovered: (latest) => clock.notBefore(latest),
    nonce: () => Math.floor(Math.random() * 2 ** 53),
    atEndOfTurn: setImmediate,
    startTimer: (delayMs, run) =>
      startTimer(delayMs, () => {
        beforeTimers();
        run();
      }),
    graceMsMin: GRACE_MS_MIN,
    notify: observation.noticed,
    onStopped: options.onFatal,
  });
}

/** Limits and quotas as they are set, and the defaults of those that are not. */
function limitsOf({ limits, quotas }: ServerOptions): PartitionLimits {
  return partitionLimits({
    limits: { ...DEFAULTS.limits, ...limits },
    quotas: { ...DEFAULTS.quotas, ...quotas },
  });
}

function logFolderOf({ dataFolder }: ServerOptions): string {
  return join(dataFolder, 'log');
}

async function openLog(options: ServerOptions): Promise<FileLog> {
  refuseUnfinishedRestore(options.dataFolder);
  const { segmentBytes } = options;
  const size = segmentBytes === undefined ? {} : { segmentBytes };
  const log = await FileLog.open({ folder: logFolderOf(options), ...size });
  await removeStaged(options.dataFolder);
  return log;
}

function startTimer(delayMs: number, ring: () => void): () => void {
  const timer = setTimeout(ring, delayMs);
  return () => clearTimeout(timer);
}

function appOptions(options: ServerOptions, certificate: Certificate | undefined) {
  return {
    hosts: [options.host, ...(options.allowedHosts ?? [])],
    limits: { ...DEFAULTS.http, ...options.http },
    drainMs: options.drainMs ?? DEFAULTS.drainMs,
    version: options.version,
    dataFolder: options.dataFolder,
    certificate,
  };
}

async function certificateOf(files: CertificateFiles): Promise<Certificate> {
  try {
    return await readCertificate(files);
  } catch (cause) {
    if (cause instanceof CertificateError) throw new ConfigError([cause.message]);
    throw cause;
  }
}

function watchCertificate(
  app: FastifyInstance,
  files: CertificateFiles | undefined,
  current: Certificate | undefined,
  log: ServerLog,
): CertificateWatcher | undefined {
  if (files === undefined || current === undefined) return undefined;
  const server = app.server as unknown as TlsServer;
  const say: ServerLog['line'] = (level, message, fields) => log.line(level, message, fields);
  return new CertificateWatcher({ server, files, current, say });
}
