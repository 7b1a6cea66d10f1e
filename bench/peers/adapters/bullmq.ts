import type { BenchTask, Contender, PeerClient, PeerWorker, WorkOptions } from '../contender.ts';
import { requirePeer } from '../packages.ts';

/** The part of BullMQ that is used. */
interface BullMq {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (
    name: string,
    handle: (job: { readonly data: BenchTask }) => Promise<void>,
    options: object,
  ) => Worker;
}

interface Queue {
  add(name: string, data: BenchTask, options: object): Promise<Job>;
  addBulk(jobs: readonly object[]): Promise<Job[]>;
  upsertJobScheduler(id: string, repeat: object, template: object): Promise<unknown>;
  on(event: 'error', hear: (cause: Error) => void): void;
  close(): Promise<void>;
}

interface Worker {
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', hear: (cause: Error) => void): void;
  close(force?: boolean): Promise<void>;
}

interface Job {
  changeDelay(delayMs: number): Promise<void>;
}

/** Finished tasks are removed: the guide advises it, and Redis would keep all of them in memory. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true };

/** The guide's figures for `addBulk` stop growing at about this size. */
const BULK_SIZE = 1000;

const DEFAULT_PRIORITY = 10;

/** A scheduler has no bulk call; calls of one turn share a round trip. */
const SCHEDULERS_AT_ONCE = 64;

function connectionOf(address: string): object {
  const { hostname, port } = new URL(address);
  // As the guide advises for workers: commands wait while Redis is down, instead of failing.
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null };
}

function optionsOf({ delayMs = 0, isUrgent }: { delayMs?: number; isUrgent?: boolean }): object {
  const delay = delayMs > 0 ? { delay: delayMs } : {};
  // 1 is the highest priority. Tasks without a priority go before all that have one.
  if (isUrgent === undefined) return { ...JOB_OPTIONS, ...delay };
  return { ...JOB_OPTIONS, ...delay, priority: isUrgent ? 1 : DEFAULT_PRIORITY };
}

async function openClient(address: string, name: string): Promise<PeerClient> {
  const { Queue } = requirePeer('bullmq') as BullMq;
  const queue = new Queue(name, { connection: connectionOf(address) });
  queue.on('error', () => undefined);
  const editable = new Map<number, Job>();
  const addAll = (tasks: readonly BenchTask[], options = {}) =>
    queue.addBulk(tasks.map((data) => ({ name: 'bench', data, opts: optionsOf(options) })));
  return {
    bulkSize: BULK_SIZE,
    submitBulk: async (tasks, options) => void (await addAll(tasks, options)),
    submitOne: async (task, options = {}) =>
      void (await queue.add('bench', task, optionsOf(options))),
    submitEditable: async (tasks, delayMs) => {
      const jobs = await addAll(tasks, { delayMs });
      jobs.forEach((job, n) => void editable.set(tasks[n].n, job));
    },
    edit: async (tasks, delaysMs) => {
      const edits = tasks.map(({ n }, at) => editable.get(n)?.changeDelay(delaysMs[at]));
      await Promise.all(edits);
    },
    schedules: {
      perCall: 1,
      atOnce: SCHEDULERS_AT_ONCE,
      put: async ([data], pattern) => {
        const template = { name: 'bench', data, opts: JOB_OPTIONS };
        await queue.upsertJobScheduler(`s${data.n}`, { pattern }, template);
      },
    },
    close: () => queue.close(),
  };
}

async function openWorker(
  address: string,
  name: string,
  { slots, workers, handle }: WorkOptions,
): Promise<PeerWorker> {
  const { Worker } = requirePeer('bullmq') as BullMq;
  const connection = connectionOf(address);
  const all = Array.from({ length: workers }, () => {
    const run = async ({ data }: { readonly data: BenchTask }) => handle(data);
    const worker = new Worker(name, run, { connection, concurrency: slots });
    worker.on('error', () => undefined);
    return worker;
  });
  await Promise.all(all.map((worker) => worker.waitUntilReady()));
  return { close: async () => void (await Promise.all(all.map((worker) => worker.close(true)))) };
}

const SETTINGS = 'one Worker, concurrency = slots; addBulk of 1,000; finished tasks removed';

export const bullmq: Contender = {
  store: 'redis',
  durability: 'AOF, fsync every second: a power loss takes the last second',
  settings: SETTINGS,
  openClient,
  openWorker,
};

export const bullmqAlways: Contender = {
  ...bullmq,
  store: 'redis-always',
  durability: 'AOF, fsync before every answer',
};
