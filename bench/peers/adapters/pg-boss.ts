import type {
  BenchTask,
  Contender,
  PeerClient,
  PeerWorker,
  SubmitOptions,
  WorkOptions,
} from '../contender.ts';
import { requirePeer } from '../packages.ts';

/** The part of pg-boss that is used. */
interface Module {
  readonly PgBoss: new (options: object) => Boss;
}

interface Boss {
  on(event: 'error', hear: (cause: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: BenchTask, options: object): Promise<string | null>;
  insert(
    name: string,
    jobs: readonly object[],
    options?: { returnId: true },
  ): Promise<string[] | null>;
  update(name: string, data: undefined, options: object): Promise<unknown>;
  schedule(name: string, cron: string, data: BenchTask, options: object): Promise<void>;
  work(
    name: string,
    options: object,
    handle: (jobs: readonly { readonly data: BenchTask }[]) => Promise<void>,
  ): Promise<string>;
}

/** `insert` sends all of them in one statement. */
const BULK_SIZE = 1000;
/** Connections of the client: more than the 2 cores can use, without many that only wait. */
const CONNECTIONS = 16;
/** Batches that one worker has at once, so that one is fetched while another one runs. */
const BATCHES_AT_ONCE = 2;

async function openBoss(address: string, queue: string, max: number): Promise<Boss> {
  const { PgBoss } = requirePeer('pg-boss') as Module;
  // Workers are notified of new tasks, instead of polling every two seconds.
  const boss = new PgBoss({ connectionString: address, max, useListenNotify: true });
  boss.on('error', () => undefined);
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  return boss;
}

function optionsOf({ delayMs = 0, isUrgent = false }: SubmitOptions): object {
  const startAfter = delayMs > 0 ? { startAfter: new Date(Date.now() + delayMs) } : {};
  return { ...startAfter, priority: isUrgent ? 1 : 0 };
}

async function openClient(address: string, queue: string): Promise<PeerClient> {
  const boss = await openBoss(address, queue, CONNECTIONS);
  const editable = new Map<number, string>();
  const rows = (tasks: readonly BenchTask[], options: SubmitOptions = {}) =>
    tasks.map((data) => ({ data, ...optionsOf(options) }));
  return {
    bulkSize: BULK_SIZE,
    submitBulk: async (tasks, options) => void (await boss.insert(queue, rows(tasks, options))),
    submitOne: async (task, options = {}) =>
      void (await boss.send(queue, task, optionsOf(options))),
    submitEditable: async (tasks, delayMs) => {
      const ids = await boss.insert(queue, rows(tasks, { delayMs }), { returnId: true });
      ids?.forEach((id, at) => void editable.set(tasks[at].n, id));
    },
    edit: async (tasks, delaysMs) => {
      const edits = tasks.map(({ n }, at) => {
        const startAfter = new Date(Date.now() + delaysMs[at]);
        return boss.update(queue, undefined, { id: editable.get(n), startAfter });
      });
      await Promise.all(edits);
    },
    schedules: {
      perCall: 1,
      atOnce: CONNECTIONS,
      put: async ([data], cron) => boss.schedule(queue, cron, data, { key: `s${data.n}` }),
    },
    close: () => boss.stop({ graceful: false }),
  };
}

async function openWorker(
  address: string,
  queue: string,
  { slots, workers, handle }: WorkOptions,
): Promise<PeerWorker> {
  const boss = await openBoss(address, queue, Math.min(workers, 10) + BATCHES_AT_ONCE);
  const options = {
    batchSize: Math.max(1, Math.floor(slots / BATCHES_AT_ONCE)),
    localConcurrency: BATCHES_AT_ONCE * workers,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
  };
  await boss.work(queue, options, async (jobs) => {
    await Promise.all(jobs.map(({ data }) => handle(data)));
  });
  return { close: () => boss.stop({ graceful: false }) };
}

export const pgBoss: Contender = {
  store: 'postgres',
  durability: 'PostgreSQL, synchronous_commit on',
  settings:
    'work() with LISTEN/NOTIFY, two batches of half the slots at once, burstWhenBatchFull; ' +
    'insert() of 1,000; 16 connections',
  openClient,
  openWorker,
};
