import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import type { EvaluationResult, ReadonlyState, ScriptsEvaluated } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { BoundedLog } from '@sluice/log';
import type { FastifyInstance } from 'fastify';
import { DEFAULTS, type ServerOptions } from './assembly/server-options.ts';
import {
  courierOf,
  httpWorkerOf,
  openFiles,
  openLog,
  quotasIn,
  startEngine,
} from './assembly/server-parts.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { BlobSweep } from './blobs/blob-sweep.ts';
import { buildApp } from './build-app.ts';
import type { RunningCourier } from './callbacks/make-courier.ts';
import { TICK_MS } from './clock/standstill.ts';
import { SteadyClock } from './clock/steady-clock.ts';
import { EMBEDDED_PARTITION } from './config/embedded-partition.ts';
import { ConfigError } from './config/load-config.ts';
import { isLoopback, noKeysProblem } from './config/relations.ts';
import { LogStarts } from './events/log-starts.ts';
import { Gateway } from './gateway/gateway.ts';
import { ServerOutputs } from './gateway/server-outputs.ts';
import {
  type Certificate,
  CertificateError,
  type CertificateFiles,
  CertificateWatcher,
  readCertificate,
} from './http/certificate.ts';
import { urlOf } from './http/server-url.ts';
import type { HttpWorker } from './http-steps/http-worker.ts';
import { Admission } from './limits/admission.ts';
import { MemoryWatch } from './limits/memory-watch.ts';
import type { TaskLogs } from './logs/task-logs.ts';
import { Observation } from './observation/observation.ts';
import { ServerLog } from './observation/server-log.ts';
import type { Projection } from './projection/projection.ts';
import { QueueRates } from './queues/queue-rates.ts';
import { Scripts } from './scripts/scripts.ts';
import { Stats } from './stats/stats.ts';
import { StatsKeeper } from './stats/stats-keeper.ts';
import { TaskWaiters } from './tasks/task-waiters.ts';
import { WorkerStreams } from './workers/worker-streams.ts';

/** When each epoch of the log began, in the data folder. */
const STARTS_FILE = 'starts.json';

/** The embedded server: one partition on a file log, with HTTP around it. */
export class Server {
  readonly url: string;
  private readonly app: FastifyInstance;
  private readonly engine: Engine;
  private readonly log: BoundedLog;
  private readonly logs: TaskLogs;
  private readonly scripts: Scripts;
  private readonly sweep: BlobSweep;
  private readonly projection: Projection;
  private readonly streams: WorkerStreams;
  private readonly waiters: TaskWaiters;
  private readonly courier: RunningCourier;
  private readonly httpWorker: HttpWorker;
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
    this.httpWorker = parts.httpWorker;
    this.app = parts.app;
    this.engine = parts.engine;
    this.log = parts.log;
    this.logs = parts.logs;
    this.scripts = parts.scripts;
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
   * Recovers from the log, then listens: no request reaches a server that does not know its tasks.
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
      const streams = streamsOf(options, observation);
      const waiters = new TaskWaiters(quotasIn(options));
      const rates = new QueueRates(() => performance.now());
      let courier: RunningCourier | undefined;
      let httpWorker: HttpWorker | undefined;
      const scripts = scriptsOf(() => ({ engine, blobs }));
      const outputs = new ServerOutputs(streams, waiters, rates, {
        observe: observation.staged,
        owed: (deliveries, state) => courier?.staged(deliveries, state),
        evaluate: (asked) => scripts.evaluate(asked),
        serve: (namespaces) => httpWorker?.serve(namespaces),
      });
      let gateway: Gateway | undefined;
      const beforeTimers = () => gateway?.beforeTimers();
      const { extent } = file;
      const parts = { log, extent, outputs, clock: time, observation, beforeTimers };
      const { engine, ...opened } = await startEngine(options, parts);
      projection = opened.projection;
      const { logs, blobs } = await openFiles(options, observation, now);
      observation.begin();
      const { state } = observation.partition;
      projection.follow(engine.feed, engine.position, state.programs.all());
      checkKeys(options, state);
      const admission = new Admission(engine, file, memoryOf(options));
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
      const starts = await LogStarts.begin(join(options.dataFolder, STARTS_FILE), engine.position);
      const served = { ...shared, starts, logFiles: file, rates, logs, blobs, scripts, clock: now };
      scripts.evaluate(await engine.read((_, partition) => partition.openEvaluations()));
      const app = buildApp(appOptions(options, certificate), served);
      await app.listen({ host: options.host, port: options.port });
      courier = courierOf(options, served);
      httpWorker = httpWorkerOf(options, gateway);
      await Promise.all([courier.begin(), httpWorker.begin(engine)]);
      const url = urlOf(app, options, certificate !== undefined);
      serverLog.line('info', 'the server is listening', { url, version: options.version });
      const watcher = watchCertificate(app, options.tls, certificate, serverLog);
      const { drainMs = DEFAULTS.drainMs } = options;
      return new Server({ ...served, app, courier, httpWorker, streams, watcher, drainMs }, url);
    } catch (cause) {
      observation.close();
      await projection?.close();
      await log.close();
      throw cause;
    }
  }

  /** Reloads the certificate files for new connections. Never rejects. */
  async reloadCertificate(): Promise<void> {
    await this.watcher?.look();
  }

  /** Tells the workers, finishes open requests, and releases the data folder. */
  async close(): Promise<void> {
    this.observation.log.line('info', 'the server is stopping');
    clearInterval(this.ticker);
    this.watcher?.stop();
    this.streams.drain();
    this.waiters.giveUp();
    const open = [this.courier, this.httpWorker].map((each) => each.close(this.drainMs));
    await Promise.all([this.app.close(), ...open]);
    await this.stats.close();
    await this.sweep.close();
    await this.scripts.close();
    await this.engine.close();
    await this.projection.close();
    await this.log.close();
    this.logs.close();
    this.observation.close();
    this.observation.log.line('info', 'the server has stopped');
  }
}

/**
 * A server that other machines can reach needs a key, whatever else is configured
 * (access.open-without-keys).
 */
function checkKeys({ host, dataFolder }: ServerOptions, { accessKeys }: ReadonlyState): void {
  if (isLoopback(host) || accessKeys.size > 0) return;
  throw new ConfigError([`host ${noKeysProblem(host, dataFolder)}`]);
}

/** Engine and blobs are opened later, and nothing is evaluated before. */
function scriptsOf(parts: () => { engine: Engine; blobs: BlobStore }): Scripts {
  const report = (results: readonly EvaluationResult[]) => reportScripts(parts().engine, results);
  return new Scripts(report, (blob) => parts().blobs.pathOf(blob));
}

/** A server that stops evaluates the scripts again when it starts. */
function reportScripts(engine: Engine, results: readonly EvaluationResult[]): void {
  const command = { type: 'scripts_evaluated', results } as const;
  engine.execute<ScriptsEvaluated, void>(command, () => undefined).catch(() => undefined);
}

function streamsOf({ http }: ServerOptions, { streamed }: Observation): WorkerStreams {
  const stalledMs = http?.stalledReaderMs ?? DEFAULTS.http.stalledReaderMs;
  return new WorkerStreams({ notify: streamed, stalledMs });
}

function memoryOf({ maxMemory = DEFAULTS.maxMemory }: ServerOptions): MemoryWatch {
  return new MemoryWatch(maxMemory);
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
  readonly httpWorker: HttpWorker;
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly log: BoundedLog;
  readonly logs: TaskLogs;
  readonly blobs: BlobStore;
  readonly scripts: Scripts;
  readonly projection: Projection;
  readonly streams: WorkerStreams;
  readonly waiters: TaskWaiters;
  readonly observation: Observation;
  readonly watcher: CertificateWatcher | undefined;
  readonly clock: () => number;
  readonly drainMs: number;
}

function appOptions(options: ServerOptions, certificate: Certificate | undefined) {
  return {
    hosts: [options.host, ...(options.allowedHosts ?? [])],
    limits: { ...DEFAULTS.http, ...options.http },
    drainMs: options.drainMs ?? DEFAULTS.drainMs,
    version: options.version,
    commit: options.commit,
    dataFolder: options.dataFolder,
    partition: options.partition ?? EMBEDDED_PARTITION,
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
