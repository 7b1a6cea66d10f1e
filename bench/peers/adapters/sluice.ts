import { Agent, request } from 'node:http';
import { defineTask, Sluice } from '@sluice/sdk';
import type {
  BenchTask,
  Contender,
  PeerClient,
  PeerWorker,
  SubmitOptions,
  WorkOptions,
} from '../contender.ts';

/** Number of tasks per call. */
const BULK_SIZE = 1000;
/** Connections of the contender that sends every task in a separate request. */
const CONNECTIONS = 64;

const URGENT = 8;

const SCHEDULE_CALLS_AT_ONCE = 4;

function optionsOf({ delayMs, isUrgent }: SubmitOptions): object {
  return {
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(isUrgent === true ? { priority: URGENT } : {}),
  };
}

async function openClient(address: string, type: string): Promise<PeerClient> {
  const sluice = new Sluice({ url: address });
  const ids = new Map<number, string>();
  return {
    bulkSize: BULK_SIZE,
    submitBulk: async (tasks, options = {}) =>
      void (await sluice.submitMany(type, tasks, optionsOf(options))),
    submitOne: async (task, options = {}) =>
      void (await sluice.submit(type, task, optionsOf(options))),
    submitEditable: async (tasks, delayMs) => {
      const made = await sluice.submitMany(type, tasks, { delayMs });
      made.forEach(({ id }, at) => void ids.set(tasks[at].n, id));
    },
    // The SDK has no call for it yet. The server takes up to 1,000 at once.
    edit: async (tasks, delaysMs) => {
      const edits = tasks.map(({ n }, at) => ({
        id: ids.get(n),
        runAt: new Date(Date.now() + delaysMs[at]).toISOString(),
      }));
      const answer = await fetch(`${address}/v1/tasks`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(edits),
      });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      await answer.arrayBuffer();
    },
    schedules: {
      perCall: BULK_SIZE,
      atOnce: SCHEDULE_CALLS_AT_ONCE,
      put: async (tasks, cron) => {
        const results = await sluice.schedules.changeMany(
          tasks.map((input) => {
            const work = { spec: { cron }, task: { type, input } };
            return { op: 'put', id: `s${input.n}`, ...work };
          }),
        );
        const refused = results.find(({ error }) => error !== undefined);
        if (refused !== undefined) throw new Error(refused.error?.message);
      },
    },
    close: () => sluice.close(),
  };
}

async function openWorker(
  address: string,
  type: string,
  { slots, workers, handle }: WorkOptions,
): Promise<PeerWorker> {
  const sluice = new Sluice({ url: address });
  const task = defineTask({ type, run: (input: BenchTask) => handle(input) });
  await Promise.all(
    Array.from({ length: workers }, (_, n) =>
      sluice.work([task], { slots, name: `bench-${n}`, handleSignals: false, stopGraceMs: 0 }),
    ),
  );
  return { close: () => sluice.close() };
}

export const sluice: Contender = {
  store: 'sluice',
  durability: 'own log, fsync before every answer',
  settings:
    'SDK with its defaults, slots as asked; calls of one turn share a request; submitMany of 1,000',
  openClient,
  openWorker,
};

/** Sends every task in a separate request, like a client without the SDK. */
async function openSingleClient(address: string, type: string): Promise<PeerClient> {
  const shared = await openClient(address, type);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = new URL('/v1/tasks', address);
  const submitOne = (input: BenchTask, options: SubmitOptions = {}): Promise<void> =>
    post(url, agent, JSON.stringify({ type, input, ...optionsOf(options) }));
  return {
    ...shared,
    bulkSize: CONNECTIONS,
    submitOne,
    submitBulk: async (tasks, options) =>
      void (await Promise.all(tasks.map((task) => submitOne(task, options)))),
    close: async () => {
      agent.destroy();
      await shared.close();
    },
  };
}

function post(url: URL, agent: Agent, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('error', reject);
      answer.once('end', () => {
        if (answer.statusCode === 201) resolve();
        else reject(new Error(`the server answered ${answer.statusCode}`));
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

export const sluiceSingle: Contender = {
  ...sluice,
  isVariant: true,
  settings:
    'HTTP/1.1 without the SDK, one task per request, 64 connections of Node; worker with the SDK',
  openClient: openSingleClient,
};
