import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import type { Engine } from '@sluice/engine';
import type { BoundedLog, FileLog } from '@sluice/log';
import { openApiDocument, ROUTES, SluiceError } from '@sluice/protocol';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { AccessGuard, guardRoutes } from '../access/access-guard.ts';
import { Authenticator } from '../access/authenticator.ts';
import { keyRoutes } from '../access/key.route.ts';
import { KeyOperations } from '../access/key-operations.ts';
import { KeyStreams } from '../access/key-streams.ts';
import { loginRoutes } from '../access/login.route.ts';
import { backupRoute, noBackupRoute } from '../backup/backup.route.ts';
import { blobRoutes } from '../blobs/blob.route.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { callbackRoutes } from '../callbacks/callback.route.ts';
import { CallbackOperations } from '../callbacks/callback-operations.ts';
import type { SteadyClock } from '../clock/steady-clock.ts';
import { clusterRoute } from '../cluster/cluster-view.ts';
import type { Configuration } from '../config/settings.ts';
import { consolePages } from '../console/console-pages.ts';
import { eventsRoute } from '../events/events.route.ts';
import type { LogStarts } from '../events/log-starts.ts';
import { DirectCalls } from '../gateway/direct-calls.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { reportAttemptsRoute } from '../gateway/report-attempts.route.ts';
import { submitTasksRoute } from '../gateway/submit-tasks.route.ts';
import { workerSessionRoutes } from '../gateway/worker-session.route.ts';
import type { HopTrust } from '../http/client.ts';
import { errorAnswers, installErrorAnswers, unavailable } from '../http/error-answer.ts';
import type { RefusalDesk } from '../http/refusal.ts';
import { RequestGuard } from '../http/request-guard.ts';
import { routeOptions } from '../http/route-options.ts';
import type { Admission } from '../limits/admission.ts';
import { taskLogsRoute } from '../logs/task-logs.route.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import { metricsRoute, timeRoutes } from '../observation/metrics-page.ts';
import type { Observation } from '../observation/observation.ts';
import type { Projection } from '../projection/projection.ts';
import { deadLetterRoutes } from '../queues/dead-letter.route.ts';
import { DeadLetterOperations } from '../queues/dead-letters.ts';
import { queueRoutes } from '../queues/queue.route.ts';
import type { QueueRates } from '../queues/queue-rates.ts';
import { taskTypeRoutes } from '../queues/task-type.route.ts';
import { runRoutes } from '../runs/run.route.ts';
import { RunArchive } from '../runs/run-archive.ts';
import { RunOperations } from '../runs/run-operations.ts';
import { RunWaiting } from '../runs/run-waiting.ts';
import { scheduleRoutes } from '../schedules/schedule.route.ts';
import type { Scripts } from '../scripts/scripts.ts';
import { statsRoute } from '../stats/stats.route.ts';
import { manyTasksRoutes } from '../tasks/many-tasks.route.ts';
import { patchTasksRoutes } from '../tasks/patch-tasks.route.ts';
import { TaskPatcher } from '../tasks/patch-tasks.ts';
import { readTaskRoutes } from '../tasks/read-task.route.ts';
import { TaskArchive } from '../tasks/task-archive.ts';
import { taskOperationRoutes } from '../tasks/task-operations.route.ts';
import { TaskOperations } from '../tasks/task-operations.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';
import { TaskWaiting } from '../tasks/task-waiting.ts';
import { workerListRoutes } from '../workers/worker-list.route.ts';
import { WorkerList } from '../workers/worker-list.ts';
import type { WorkerStreams } from '../workers/worker-streams.ts';
import { workflowRoutes } from '../workflows/workflow.route.ts';

/** The parts that answer requests. */
export interface AppParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly gateway: Gateway;
  readonly waiters: TaskWaiters;
  readonly projection: Projection;
  readonly starts: LogStarts;
  readonly rates: QueueRates;
  readonly streams: WorkerStreams;
  readonly logs: TaskLines;
  readonly blobs: BlobStore;
  readonly scripts: Scripts;
  readonly clock: () => number;
  readonly time: Pick<SteadyClock, 'status'>;
  readonly observation: Observation;
  readonly log: BoundedLog;
  /** The files behind `log`; undefined when it is not in files. */
  readonly logFiles: Pick<FileLog, 'hold'> | undefined;
}

interface AppOptions {
  /** Makes what passes requests to the handler. */
  readonly makeServer: (handler: RequestListener, desk: RefusalDesk) => Server;
  /** Host names that a request may be addressed to, besides loopback. */
  readonly hosts: readonly string[];
  readonly limits: Configuration['http'];
  readonly version: string;
  readonly commit: string | undefined;
  readonly dataFolder: string;
  readonly logEngine: 'file' | 'postgres';
  readonly partition: number;
  /** Of a server in a cluster: whose forwarded requests it believes. */
  readonly hopTrust?: HopTrust;
  /** Of a server in a cluster: the servers of its store. */
  readonly storeView?: () => Promise<object>;
}

/** The HTTP application around an engine: the checks for every request, and all routes. */
export function buildApp(options: AppOptions, parts: AppParts): FastifyInstance {
  const { engine, observation } = parts;
  const { limits, makeServer } = options;
  const desk: RefusalDesk = {
    newRequestId: requestIds(),
    refused: observation.refused,
  };
  const answerError = errorAnswers(desk);
  const guard = new RequestGuard(options.hosts, limits, options.hopTrust);
  const authenticator = authenticatorOf(parts);
  const access = new AccessGuard(authenticator, engine);
  const direct = new DirectCalls({ guard, access, desk, metrics: observation.server });
  const app = Fastify({
    serverFactory: ((handler: RequestListener) =>
      makeServer(direct.before(handler), desk)) as never,
    genReqId: desk.newRequestId,
    loggerInstance: observation.log.forFramework(),
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1000 },
    // The router throws this before any hook or handler could give it the API's error format.
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

  app.addHook('preClose', async () => {
    direct.isClosing = true;
  });
  app.addHook('onRequest', (request, _reply, done) => {
    guard.check(request.raw);
    done();
  });
  consolePages(app);
  guardRoutes(app, access);
  const keyStreams = accessRoutes(app, authenticator, parts);

  const archive = new TaskArchive(parts);
  taskRoutes(app, { ...parts, archive, keyStreams, direct, stalledMs: limits.stalledReaderMs });
  workflowRoutes(app, parts);
  runsOf(app, { ...parts, keyStreams });
  scheduleRoutes(app, { ...parts, archive, runs: new RunArchive(parts) });
  workerRoutes(app, { ...parts, keyStreams, direct });
  queueRoutes(app, parts);
  taskTypeRoutes(app, engine, parts.admission);
  deadLetterRoutes(app, new DeadLetterOperations(engine, parts.admission), archive);
  callbackRoutes(app, new CallbackOperations(engine, parts.admission), archive);
  operationRoutes(app, parts, options.version);
  metricsRoute(app, { ...parts, dataFolder: options.dataFolder });
  statsRoute(app, {
    ...parts,
    stats: observation.stats,
    keyStreams,
    stalledMs: limits.stalledReaderMs,
  });
  backupRoutes(app, { ...parts, keyStreams, stalledMs: limits.stalledReaderMs }, options);
  clusterRoute(app, { ...options, ...parts });
  return app;
}

function authenticatorOf({ observation, clock }: AppParts): Authenticator {
  const { state } = observation.partition;
  return new Authenticator({ state, clock, onBlocked: observation.blocked });
}

function accessRoutes(
  app: FastifyInstance,
  authenticator: Authenticator,
  { engine, admission, observation, clock }: AppParts,
): KeyStreams {
  const { state } = observation.partition;
  const lastUsedAt = (id: string) => authenticator.lastUsedAt(id);
  const isLive = (actor: string) => authenticator.isLive(actor);
  const keyStreams = new KeyStreams(authenticator);
  loginRoutes(app, authenticator, state);
  keyRoutes(app, new KeyOperations({ engine, admission, clock, lastUsedAt, isLive }), {
    clock,
    onRevoked: () => keyStreams.cutDead(),
  });
  app.addHook('onClose', async () => keyStreams.stop());
  return keyStreams;
}

interface StreamParts extends AppParts {
  readonly keyStreams: KeyStreams;
}

interface DirectParts extends StreamParts {
  readonly direct: DirectCalls;
}

function taskRoutes(
  app: FastifyInstance,
  parts: DirectParts & { readonly archive: TaskArchive; readonly stalledMs: number },
): void {
  const { engine, admission, archive } = parts;
  const waiting = new TaskWaiting(parts);
  submitTasksRoute(app, parts, waiting);
  readTaskRoutes(app, archive, waiting);
  taskLogsRoute(app, parts);
  eventsRoute(app, { ...parts, runs: new RunArchive(parts) });
  const operations = new TaskOperations(parts);
  manyTasksRoutes(app, { engine, admission, waiting, archive, operations });
  patchTasksRoutes(app, new TaskPatcher(parts));
  taskOperationRoutes(app, operations);
  blobRoutes(app, parts.blobs, admission);
}

function runsOf(app: FastifyInstance, parts: StreamParts): void {
  const runs = new RunArchive(parts);
  const waiting = new RunWaiting({ ...parts, runs });
  const refuseWhileWaking = () => parts.gateway.refuseWhileWaking();
  const onStarted = parts.observation.runsStarted;
  const operations = new RunOperations({ ...parts, runs, refuseWhileWaking, onStarted });
  runRoutes(app, { runs, waiting, operations, scripts: parts.scripts });
}

function backupRoutes(
  app: FastifyInstance,
  parts: StreamParts & { readonly stalledMs: number },
  { dataFolder, version }: AppOptions,
): void {
  const { log, logFiles, observation } = parts;
  if (logFiles === undefined) return noBackupRoute(app);
  backupRoute(app, {
    ...parts,
    dataFolder,
    version,
    log: logFiles,
    statsText: () => observation.stats.text,
    isFull: () => log.isFull,
    onFailed: observation.backupFailed,
  });
}

function workerRoutes(app: FastifyInstance, parts: DirectParts): void {
  const { engine, admission, gateway, streams } = parts;
  workerSessionRoutes(app, parts);
  reportAttemptsRoute(app, gateway, parts.direct);
  workerListRoutes(app, new WorkerList(engine, admission, streams));
}

/**
 * The random start is unique per process, the count within it. A random id per request costs more.
 */
export function requestIds(): () => string {
  const start = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `q_${start}_${(count++).toString(36)}`;
}

function operationRoutes(app: FastifyInstance, parts: AppParts, version: string): void {
  const { engine, projection, clock } = parts;
  app.route({ ...routeOptions(ROUTES.healthLive), handler: async () => ({ status: 'ok' }) });
  app.route({
    ...routeOptions(ROUTES.healthReady),
    handler: async () => {
      if (engine.isStopped) throw unavailable();
      const { state, why } = projection.status(engine.position, clock());
      if (state === 'ended') {
        const message = `search and history have stopped (${why}); restart the server`;
        throw new SluiceError('unavailable', message);
      }
      return { status: 'ok' };
    },
  });
  const index = {
    name: 'sluice',
    version,
    openapi: ROUTES.getOpenApi.path,
    ready: ROUTES.healthReady.path,
    metrics: ROUTES.getMetrics.path,
  };
  app.route({ ...routeOptions(ROUTES.getIndex), handler: async () => index });
  let document: object | undefined;
  app.route({
    ...routeOptions(ROUTES.getOpenApi),
    handler: async () => {
      document ??= openApiDocument(version);
      return document;
    },
  });
}
