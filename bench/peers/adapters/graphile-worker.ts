import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BenchTask,
  Contender,
  PeerClient,
  PeerWorker,
  SubmitOptions,
  WorkOptions,
} from '../contender.ts';
import { requirePeer } from '../packages.ts';

/** The parts of graphile-worker and pg that are used. */
interface Module {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<Runner>;
  readonly Logger: new (log: () => () => void) => object;
}

interface Runner {
  stop(): Promise<void>;
  readonly promise: Promise<void>;
}

interface Utils {
  migrate(): Promise<void>;
  addJob(name: string, payload: BenchTask, options: object): Promise<unknown>;
  addJobs(jobs: readonly object[]): Promise<unknown>;
  release(): Promise<void>;
}

interface Pg {
  readonly Pool: new (options: object) => Pool;
}

interface Pool {
  on(event: 'error' | 'connect', hear: (given: never) => void): void;
  end(): Promise<void>;
}

const RESTART_MS = 500;
const BULK_SIZE = 1000;
const CONNECTIONS = 16;
/** Tasks that run at once, and tasks that are locked ahead: the values of its performance page. */
const CONCURRENT = 24;
const LOCAL_QUEUE = 500;

function quiet(): object {
  const { Logger } = requirePeer('graphile-worker') as Module;
  return new Logger(() => () => undefined);
}

function openPool(address: string, max: number): Pool {
  const { Pool } = requirePeer('pg') as Pg;
  const pool = new Pool({ connectionString: address, max });
  pool.on('error', () => undefined);
  pool.on('connect', (client: { on(event: 'error', hear: () => void): void }) => {
    client.on('error', () => undefined);
  });
  return pool;
}

function specOf({ delayMs = 0, isUrgent = false }: SubmitOptions): object {
  const runAt = delayMs > 0 ? { runAt: new Date(Date.now() + delayMs) } : {};
  // A lower number goes first.
  return { ...runAt, priority: isUrgent ? -1 : 0 };
}

async function openClient(address: string, queue: string): Promise<PeerClient> {
  const { makeWorkerUtils } = requirePeer('graphile-worker') as Module;
  const pgPool = openPool(address, CONNECTIONS);
  const utils = await makeWorkerUtils({ pgPool, logger: quiet() });
  await utils.migrate();
  const addAll = (tasks: readonly BenchTask[], spec: (n: number) => object) =>
    utils.addJobs(tasks.map((payload, n) => ({ identifier: queue, payload, ...spec(n) })));
  const editable = (task: BenchTask, delayMs: number) => ({
    ...specOf({ delayMs }),
    jobKey: String(task.n),
  });
  return {
    bulkSize: BULK_SIZE,
    submitBulk: async (tasks, options = {}) => void (await addAll(tasks, () => specOf(options))),
    submitOne: async (task, options = {}) =>
      void (await utils.addJob(queue, task, specOf(options))),
    submitEditable: async (tasks, delayMs) =>
      void (await addAll(tasks, (n) => editable(tasks[n], delayMs))),
    // A job is edited by adding it again under its key.
    edit: async (tasks, delaysMs) =>
      void (await addAll(tasks, (n) => editable(tasks[n], delaysMs[n]))),
    close: async () => {
      await utils.release();
      await pgPool.end();
    },
  };
}

/** It reads its schedules once, at the start of a worker. */
function crontabText(queue: string, tasks: readonly BenchTask[]): string {
  return tasks
    .map((task) => `* * * * * ${queue} ?id=s${task.n} ${JSON.stringify(task)}`)
    .join('\n');
}

async function openWorker(
  address: string,
  queue: string,
  { slots, workers, handle, crontab = [] }: WorkOptions,
): Promise<PeerWorker> {
  const { run, makeWorkerUtils } = requirePeer('graphile-worker') as Module;
  const concurrentJobs = Math.min(slots, CONCURRENT);
  const pgPool = openPool(address, workers === 1 ? concurrentJobs + 2 : workers + 10);
  const logger = quiet();
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  await utils.release();
  const isFast = slots > CONCURRENT;
  const worker = {
    concurrentJobs,
    pollInterval: 2000,
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    // Locking ahead is for tasks that take no time. With few slots it would hide the order in which
    // tasks start.
    ...(isFast && workers === 1 ? { localQueue: { size: LOCAL_QUEUE } } : {}),
  };
  let isClosed = false;
  const start = () =>
    run({
      pgPool,
      logger,
      noHandleSignals: true,
      preset: { worker },
      taskList: { [queue]: (task: BenchTask) => handle(task) },
      ...(crontab.length === 0 ? {} : { crontab: crontabText(queue, crontab) }),
    });
  /** A runner ends when it loses the database. A supervisor would restart it. */
  const supervise = async (runner: Runner): Promise<void> => {
    await runner.promise.catch(() => undefined);
    while (!isClosed) {
      await sleep(RESTART_MS);
      const next = await start().catch(() => undefined);
      await next?.promise.catch(() => undefined);
    }
  };
  const all = await Promise.all(Array.from({ length: workers }, start));
  for (const runner of all) supervise(runner).catch(() => undefined);
  return {
    close: async () => {
      isClosed = true;
      await Promise.all(all.map((each) => each.stop().catch(() => undefined)));
      await pgPool.end();
    },
  };
}

export const graphileWorker: Contender = {
  store: 'postgres',
  durability: 'PostgreSQL, synchronous_commit on',
  settings:
    '24 tasks at once, local queue of 500, completions batched without delay; ' +
    'addJobs() of 1,000; 16 connections',
  openClient,
  openWorker,
};
