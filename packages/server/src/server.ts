import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { MatchingOptions, PartitionLimits } from '@sluice/core';
import { type AdmissionBounds, Engine, type FeedOptions, foldInThread } from '@sluice/engine';
import { type BoundedLog, FileLog, FileSnapshots } from '@sluice/log';
import { openApiDocument, ROUTES, SluiceError } from '@sluice/protocol';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { guardAccess } from './access/access-guard.ts';
import { Authenticator } from './access/authenticator.ts';
import { keyRoutes } from './access/key.route.ts';
import { KeyOperations } from './access/key-operations.ts';
import { Admission } from './admission.ts';
import { clusterRoute } from './cluster-view.ts';
import { loadConfig } from './config/load-config.ts';
import type { Configuration } from './config/settings.ts';
import { eventsRoute } from './events/events.route.ts';
import { Gateway } from './gateway.ts';
import { errorAnswers, installErrorAnswers, unavailable } from './http/error-answer.ts';
import { createListener } from './http/listener.ts';
import type { RefusalDesk } from './http/refusal.ts';
import { RequestGuard } from './http/request-guard.ts';
import { routeOptions } from './http/route-options.ts';
import { taskLogsRoute } from './logs/task-logs.route.ts';
import { TaskLogs } from './logs/task-logs.ts';
import { metricsRoute, timeRoutes } from './metrics/metrics-page.ts';
import { Observation } from './observation.ts';
import { Projection } from './projection/projection.ts';
import { deadLetterRoutes } from './queues/dead-letter.route.ts';
import { DeadLetterOperations } from './queues/dead-letters.ts';
import { queueRoutes } from './queues/queue.route.ts';
import { QueueRates } from './queues/queue-rates.ts';
import { taskTypeRoutes } from './queues/task-type.route.ts';
import { ServerLog } from './server-log.ts';
import { ServerOutputs } from './server-outputs.ts';
import { TICK_MS } from './standstill.ts';
import { SteadyClock } from './steady-clock.ts';
import { manyTasksRoutes } from './tasks/many-tasks.route.ts';
import { patchTasksRoutes } from './tasks/patch-tasks.route.ts';
import { TaskPatcher } from './tasks/patch-tasks.ts';
import { readTaskRoutes } from './tasks/read-task.route.ts';
import { submitTasksRoute } from './tasks/submit-tasks.route.ts';
import { TaskArchive } from './tasks/task-archive.ts';
import { taskOperationRoutes } from './tasks/task-operations.route.ts';
import { TaskOperations } from './tasks/task-operations.ts';
import { TaskWaiters } from './tasks/task-waiters.ts';
import { TaskWaiting } from './tasks/task-waiting.ts';
import { UTF8 } from './utf8.ts';
import { reportAttemptsRoute } from './workers/report-attempts.route.ts';
import { workerListRoutes } from './workers/worker-list.route.ts';
import { WorkerList } from './workers/worker-list.ts';
import { workerSessionRoutes } from './workers/worker-session.route.ts';
import { WorkerStreams } from './workers/worker-streams.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Everything that must survive lives below this folder. */
  readonly dataFolder: string;
  readonly version: string;
  /** Called once when the server can no longer keep its promises; the process should end. */
  readonly onFatal: (cause: Error) => void;
  readonly limits?: Partial<PartitionLimits>;
  /** How long finished tasks are kept for search, and how much of them. */
  readonly retention?: Configuration['retention'];
  /** Bounds of requests and connections, where they are not the usual ones. */
  readonly http?: Partial<Configuration['http']>;
  /** Names beside loopback and `host` that a request may have been sent to. */
  readonly allowedHosts?: readonly string[];
  readonly matching?: Partial<MatchingOptions>;
  /** Time that requests under way have to finish in `close`; then their connections are cut. */
  readonly drainMs?: number;
  /** Only what went wrong is said unless somebody wants to hear more. */
  readonly log?: ServerLog;
  /** What may wait for the disk; tests have less. */
  readonly admission?: AdmissionBounds;
  /** Stands between engine and log; tests stop the world with it. */
  readonly wrapLog?: (log: BoundedLog) => BoundedLog;
  /** Bytes of log after which the next snapshot is made and the log trimmed. */
  readonly snapshotEveryBytes?: number;
  /** Size of the log's segments, which are trimmed as a whole. */
  readonly segmentBytes?: number;
}

const DEFAULTS = loadConfig({ flags: {}, env: {} }).config;

const DEFAULT_LIMITS: PartitionLimits = {
  ...DEFAULTS.limits,
  unsentBytesMax: 16 * 1024 * 1024,
};

const GRACE_MS_MIN = 15_000;

/** The embedded server: one partition on a file log, with HTTP around it. */
export class Server {
  readonly url: string;
  private readonly app: FastifyInstance;
  private readonly engine: Engine;
  private readonly log: BoundedLog;
  private readonly logs: TaskLogs;
  private readonly projection: Projection;
  private readonly streams: WorkerStreams;
  private readonly waiters: TaskWaiters;
  private readonly ticker: NodeJS.Timeout;
  private readonly observation: Observation;

  private constructor(parts: Parts, url: string) {
    this.url = url;
    this.app = parts.app;
    this.engine = parts.engine;
    this.log = parts.log;
    this.logs = parts.logs;
    this.projection = parts.projection;
    this.streams = parts.streams;
    this.waiters = parts.waiters;
    this.observation = parts.observation;
    this.ticker = setInterval(() => parts.gateway.tick(), TICK_MS);
  }

  /**
   * Recovers from the log, then listens: no request meets a server that does not know its tasks.
   */
  static async start(options: ServerOptions): Promise<Server> {
    const file = await openLog(logFolderOf(options), options.segmentBytes);
    const log = options.wrapLog?.(file) ?? file;
    const serverLog = options.log ?? ServerLog.onStderr('error');
    const observation = new Observation(serverLog, options.version);
    let projection: Projection | undefined;
    try {
      const clock = new SteadyClock();
      const now = () => clock.now();
      const streams = new WorkerStreams({
        notify: observation.streamed,
        stalledMs: options.http?.stalledReaderMs ?? DEFAULTS.http.stalledReaderMs,
      });
      const waiters = new TaskWaiters();
      const rates = new QueueRates(() => performance.now());
      const logs = await TaskLogs.open({ folder: join(options.dataFolder, 'task-logs') });
      const outputs = new ServerOutputs(streams, waiters, rates, observation.staged);
      let gateway: Gateway | undefined;
      const beforeTimers = () => gateway?.beforeTimers();
      projection = await startProjection(options, observation);
      const { feedOptions } = projection;
      const parts = { log, outputs, clock, observation, beforeTimers, feedOptions };
      const engine = await startEngine(options, parts);
      if (engine.feed !== undefined) projection.follow(engine.feed, engine.position);
      observation.begin();
      const admission = new Admission(engine, file);
      gateway = new Gateway({
        engine,
        admission,
        streams,
        rates,
        logs,
        clock: now,
        monotonic: () => performance.now(),
        random: Math.random,
        newSessionId: () => `s_${randomBytes(18).toString('base64url')}`,
        onRecognised: observation.recognised,
      });
      const shared = { engine, admission, gateway, waiters, observation, log, projection };
      const app = buildApp(options, { ...shared, rates, logs, clock: now });
      await app.listen({ host: options.host, port: options.port });
      const { port } = app.server.address() as AddressInfo;
      const url = `http://${urlHost(options.host)}:${port}`;
      serverLog.line('info', 'the server listens', { url, version: options.version });
      return new Server({ ...shared, app, logs, streams }, url);
    } catch (cause) {
      observation.close();
      await projection?.close();
      await log.close();
      throw cause;
    }
  }

  /** Tells the workers, finishes what is in flight, and lets go of the data folder. */
  async close(): Promise<void> {
    this.observation.log.line('info', 'the server stops');
    clearInterval(this.ticker);
    this.streams.drain();
    this.waiters.giveUp();
    await this.app.close();
    await this.engine.close();
    await this.projection.close();
    await this.log.close();
    this.logs.close();
    this.observation.close();
    this.observation.log.line('info', 'the server has stopped');
  }
}

interface Parts {
  readonly app: FastifyInstance;
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly log: BoundedLog;
  readonly logs: TaskLogs;
  readonly projection: Projection;
  readonly streams: WorkerStreams;
  readonly waiters: TaskWaiters;
  readonly observation: Observation;
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

function startProjection(options: ServerOptions, observation: Observation): Promise<Projection> {
  const { days, bytesMax } = options.retention ?? DEFAULTS.retention;
  return Projection.start({
    folder: join(options.dataFolder, 'projection'),
    retention: { ageMs: days * DAY_MS, bytesMax },
    notify: observation.projected,
  });
}

/** Takes over the log and gives the partition its clock, its timers and its snapshots. */
async function startEngine(options: ServerOptions, parts: EngineParts): Promise<Engine> {
  const { log, outputs, clock, observation, beforeTimers, feedOptions } = parts;
  const logFolder = logFolderOf(options);
  const snapshotFolder = join(options.dataFolder, 'snapshots');
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const partition = { partition: 0, limits, matching: options.matching ?? {} };
  return Engine.start({
    log: observation.measured(log),
    partition: { ...partition, utf8: UTF8 },
    makePartition: observation.makePartition,
    snapshots: {
      store: await FileSnapshots.open(snapshotFolder),
      startFold: foldInThread({ ...partition, logFolder, snapshotFolder }),
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

function logFolderOf({ dataFolder }: ServerOptions): string {
  return join(dataFolder, 'log');
}

interface AppParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly waiters: TaskWaiters;
  readonly projection: Projection;
  readonly rates: QueueRates;
  readonly logs: TaskLogs;
  readonly clock: () => number;
  readonly observation: Observation;
  readonly log: BoundedLog;
}

function buildApp(options: ServerOptions, parts: AppParts): FastifyInstance {
  const { engine, observation } = parts;
  const limits = { ...DEFAULTS.http, ...options.http };
  const drainMs = options.drainMs ?? DEFAULTS.drainMs;
  const desk: RefusalDesk = {
    newRequestId: requestIds(),
    refused: observation.refused,
  };
  const answerError = errorAnswers(desk);
  const app = Fastify({
    serverFactory: ((handler: RequestListener) =>
      createListener(handler, { limits, drainMs, desk })) as never,
    genReqId: desk.newRequestId,
    loggerInstance: observation.log.forFramework(),
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1000 },
    // Comes from the router, before any hook or handler could give it the contract's shape.
    frameworkErrors: (error, request, reply) => {
      answerError(request, reply, new SluiceError('invalid_request', error.message));
    },
  });
  // Routes read their bodies themselves: the framework cannot tell a whole body from a cut one
  // (L10).
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  installErrorAnswers(app, answerError);
  timeRoutes(app, observation.server);

  const guard = new RequestGuard([options.host, ...(options.allowedHosts ?? [])], limits);
  app.addHook('onRequest', (request, _reply, done) => {
    guard.check(request.raw);
    done();
  });
  accessRoutes(app, parts);

  taskRoutes(app, parts, limits.stalledReaderMs);
  workerRoutes(app, parts);
  queueRoutes(app, parts);
  taskTypeRoutes(app, engine, parts.admission);
  deadLetterRoutes(app, new DeadLetterOperations(engine, parts.admission));
  operationRoutes(app, engine, options.version);
  metricsRoute(app, parts);
  clusterRoute(app, { ...parts, dataFolder: options.dataFolder, version: options.version });
  return app;
}

/** Whatever is registered from here on needs a caller who may call it. */
function accessRoutes(app: FastifyInstance, parts: AppParts): void {
  const { engine, admission, observation, clock } = parts;
  const { state } = observation.partition;
  const authenticator = new Authenticator({ state, clock, onBlocked: observation.blocked });
  guardAccess(app, authenticator, engine);
  const lastUsedAt = (id: string) => authenticator.lastUsedAt(id);
  keyRoutes(app, new KeyOperations({ engine, admission, clock, lastUsedAt }), clock);
}

function taskRoutes(app: FastifyInstance, parts: AppParts, stalledMs: number): void {
  const { engine, admission, gateway } = parts;
  const archive = new TaskArchive(parts);
  const waiting = new TaskWaiting({ ...parts, archive });
  submitTasksRoute(app, gateway, waiting);
  readTaskRoutes(app, archive, waiting);
  taskLogsRoute(app, { ...parts, archive, stalledMs });
  eventsRoute(app, { ...parts, archive, stalledMs });
  manyTasksRoutes(app, { engine, admission, waiting, archive });
  patchTasksRoutes(app, new TaskPatcher(engine, admission));
  taskOperationRoutes(app, new TaskOperations({ engine, admission, archive }));
}

function workerRoutes(app: FastifyInstance, { engine, admission, gateway }: AppParts): void {
  workerSessionRoutes(app, gateway);
  reportAttemptsRoute(app, gateway);
  workerListRoutes(app, new WorkerList(engine, admission));
}

function openLog(folder: string, segmentBytes: number | undefined): Promise<FileLog> {
  return FileLog.open({ folder, ...(segmentBytes === undefined ? {} : { segmentBytes }) });
}

function startTimer(delayMs: number, ring: () => void): () => void {
  const timer = setTimeout(ring, delayMs);
  return () => clearTimeout(timer);
}

/** As it stands in an address: one of IPv6 has brackets there. */
function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Unique among restarts by the beginning, within one by the count; random ones cost more. */
function requestIds(): () => string {
  const start = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `q_${start}_${(count++).toString(36)}`;
}

function operationRoutes(app: FastifyInstance, engine: Engine, version: string): void {
  app.route({ ...routeOptions(ROUTES.healthLive), handler: async () => ({ status: 'ok' }) });
  app.route({
    ...routeOptions(ROUTES.healthReady),
    handler: async () => {
      if (engine.isStopped) throw unavailable();
      return { status: 'ok' };
    },
  });
  const document = openApiDocument(version);
  app.route({ ...routeOptions(ROUTES.getOpenApi), handler: async () => document });
}
