import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { PartitionLimits } from '@sluice/core';
import { type AdmissionBounds, Engine, type EngineNotice, foldInThread } from '@sluice/engine';
import { type BoundedLog, FileLog, FileSnapshots } from '@sluice/log';
import { openApiDocument, ROUTES, SluiceError } from '@sluice/protocol';
import Fastify, { type FastifyInstance } from 'fastify';
import { Admission } from './admission.ts';
import { ERROR_LOG } from './error-log.ts';
import { Gateway } from './gateway.ts';
import { answerError, installErrorAnswers, unavailable } from './http/error-answer.ts';
import { createListener } from './http/listener.ts';
import { OriginGuard } from './http/origin-guard.ts';
import { routeOptions } from './http/route-options.ts';
import { taskLogsRoute } from './logs/task-logs.route.ts';
import { TaskLogs } from './logs/task-logs.ts';
import { deadLetterRoutes } from './queues/dead-letter.route.ts';
import { DeadLetterOperations } from './queues/dead-letters.ts';
import { queueRoutes } from './queues/queue.route.ts';
import { QueueRates } from './queues/queue-rates.ts';
import { taskTypeRoutes } from './queues/task-type.route.ts';
import { ServerOutputs } from './server-outputs.ts';
import { TICK_MS } from './standstill.ts';
import { SteadyClock } from './steady-clock.ts';
import { manyTasksRoutes } from './tasks/many-tasks.route.ts';
import { patchTasksRoutes } from './tasks/patch-tasks.route.ts';
import { TaskPatcher } from './tasks/patch-tasks.ts';
import { readTaskRoutes } from './tasks/read-task.route.ts';
import { submitTasksRoute } from './tasks/submit-tasks.route.ts';
import { taskOperationRoutes } from './tasks/task-operations.route.ts';
import { TaskOperations } from './tasks/task-operations.ts';
import { TaskWaiters } from './tasks/task-waiters.ts';
import { TaskWaiting } from './tasks/task-waiting.ts';
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
  /** What may wait for the disk; tests have less. */
  readonly admission?: AdmissionBounds;
  /** Stands between engine and log; tests stop the world with it. */
  readonly wrapLog?: (log: BoundedLog) => BoundedLog;
  /** Bytes of log after which the next snapshot is made and the log trimmed. */
  readonly snapshotEveryBytes?: number;
  /** Size of the log's segments, which are trimmed as a whole. */
  readonly segmentBytes?: number;
}

const DEFAULT_LIMITS: PartitionLimits = {
  tasksMax: 10_000_000,
  // The thread that folds the log has the state a second time.
  payloadBytesMax: totalmem() / 4,
  finishedTasksMax: 1_000_000,
  deadLettersMax: 100_000,
  dedupeKeysMax: 10_000_000,
  sessionsMax: 50_000,
  unsentBytesMax: 16 * 1024 * 1024,
};

/** Of log. The disk holds what two snapshots need: twice that and a fold's worth. */
const SNAPSHOT_EVERY_BYTES = 256 * 1024 * 1024;

const GRACE_MS_MIN = 15_000;

/** The embedded server: one partition on a file log, with HTTP around it. */
export class Server {
  readonly url: string;
  private readonly app: FastifyInstance;
  private readonly engine: Engine;
  private readonly log: BoundedLog;
  private readonly streams: WorkerStreams;
  private readonly waiters: TaskWaiters;
  private readonly ticker: NodeJS.Timeout;

  private constructor(parts: Parts, url: string) {
    this.url = url;
    this.app = parts.app;
    this.engine = parts.engine;
    this.log = parts.log;
    this.streams = parts.streams;
    this.waiters = parts.waiters;
    this.ticker = setInterval(() => parts.gateway.tick(), TICK_MS);
  }

  /**
   * Recovers from the log, then listens: no request meets a server that does not know its tasks.
   */
  static async start(options: ServerOptions): Promise<Server> {
    const { segmentBytes } = options;
    const logFolder = join(options.dataFolder, 'log');
    const snapshotFolder = join(options.dataFolder, 'snapshots');
    const file = await FileLog.open({
      folder: logFolder,
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
    });
    const log = options.wrapLog?.(file) ?? file;
    try {
      const clock = new SteadyClock();
      const now = () => clock.now();
      const streams = new WorkerStreams();
      const waiters = new TaskWaiters();
      const rates = new QueueRates(() => performance.now());
      const logs = new TaskLogs({ folder: join(options.dataFolder, 'task-logs') });
      await logs.sweep();
      const outputs = new ServerOutputs(streams, waiters, rates);
      const partition = { partition: 0, limits: { ...DEFAULT_LIMITS, ...options.limits } };
      let gateway: Gateway | undefined;
      const engine = await Engine.start({
        log,
        partition: { ...partition, utf8: UTF8 },
        snapshots: {
          store: await FileSnapshots.open(snapshotFolder),
          startFold: foldInThread({ ...partition, logFolder, snapshotFolder }),
          everyBytes: options.snapshotEveryBytes ?? SNAPSHOT_EVERY_BYTES,
        },
        outputs,
        ...(options.admission === undefined ? {} : { admission: options.admission }),
        clock: now,
        onRecovered: (latest) => clock.notBefore(latest),
        nonce: () => Math.floor(Math.random() * 2 ** 53),
        atEndOfTurn: setImmediate,
        startTimer: (delayMs, run) => {
          const ring = () => {
            gateway?.beforeTimers();
            run();
          };
          const timer = setTimeout(ring, delayMs);
          return () => clearTimeout(timer);
        },
        graceMsMin: GRACE_MS_MIN,
        notify,
        onStopped: options.onFatal,
      });
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
      });
      const app = buildApp(options, {
        engine,
        admission,
        gateway,
        waiters,
        rates,
        logs,
        clock: now,
      });
      await app.listen({ host: options.host, port: options.port });
      const { port } = app.server.address() as AddressInfo;
      return new Server(
        { app, engine, gateway, log, streams, waiters },
        `http://${options.host}:${port}`,
      );
    } catch (cause) {
      await log.close();
      throw cause;
    }
  }

  /** Tells the workers, finishes what is in flight, and lets go of the data folder. */
  async close(): Promise<void> {
    clearInterval(this.ticker);
    this.streams.drain();
    this.waiters.giveUp();
    await this.app.close();
    await this.engine.close();
    await this.log.close();
  }
}

interface Parts {
  readonly app: FastifyInstance;
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly log: BoundedLog;
  readonly streams: WorkerStreams;
  readonly waiters: TaskWaiters;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
const UTF8 = {
  encode: (text: string) => encoder.encode(text),
  decode: (bytes: Uint8Array) => decoder.decode(bytes),
};

/** What goes as it should is not worth a line. */
function notify(notice: EngineNotice): void {
  if (notice.type === 'snapshot_unusable') {
    ERROR_LOG.error({ err: notice.cause }, 'a snapshot is passed over at this start');
  } else if (notice.type === 'fold_failed') {
    ERROR_LOG.error({ err: new Error(notice.reason) }, 'the log could not be folded');
  }
}

interface AppParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly waiters: TaskWaiters;
  readonly rates: QueueRates;
  readonly logs: TaskLogs;
  readonly clock: () => number;
}

function buildApp(options: ServerOptions, parts: AppParts): FastifyInstance {
  const { engine } = parts;
  const app = Fastify({
    serverFactory: createListener as never,
    genReqId: requestIds(),
    loggerInstance: ERROR_LOG,
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
  installErrorAnswers(app);

  const guard = new OriginGuard([options.host]);
  app.addHook('onRequest', (request, _reply, done) => {
    guard.check(request.headers);
    // The framework refuses what it cannot parse as a media type; here every body is JSON.
    request.raw.headers['content-type'] = undefined;
    done();
  });

  taskRoutes(app, parts);
  workerRoutes(app, parts);
  queueRoutes(app, parts);
  taskTypeRoutes(app, engine, parts.admission);
  deadLetterRoutes(app, new DeadLetterOperations(engine, parts.admission));
  operationRoutes(app, engine, options.version);
  return app;
}

function taskRoutes(app: FastifyInstance, parts: AppParts): void {
  const { engine, admission, gateway, waiters } = parts;
  const waiting = new TaskWaiting(engine, admission, waiters);
  submitTasksRoute(app, gateway, waiting);
  readTaskRoutes(app, gateway, waiting);
  taskLogsRoute(app, parts);
  manyTasksRoutes(app, { engine, admission, waiting });
  patchTasksRoutes(app, new TaskPatcher(engine, admission));
  taskOperationRoutes(app, new TaskOperations({ engine, admission }));
}

function workerRoutes(app: FastifyInstance, { engine, admission, gateway }: AppParts): void {
  workerSessionRoutes(app, gateway);
  reportAttemptsRoute(app, gateway);
  workerListRoutes(app, new WorkerList(engine, admission));
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
  app.get('/openapi.json', async () => document);
}
