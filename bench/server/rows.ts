import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runScenario } from '../path/scenario.ts';
import { ServerProcess } from '../path/server-process.ts';
import type { SdkClientOrder, SdkClientReport } from './sdk-client.ts';
import type { SdkWorkerOrder, SdkWorkerReport } from './sdk-worker.ts';

interface Row {
  /** By metric. */
  readonly targets: Readonly<Record<string, string>>;
  /** With this share of the tasks, on a server of its own. */
  readonly run: (share: number) => Promise<Readonly<Record<string, number>>>;
}

const IN_FLIGHT = 10_000;
const IDLE_WORKERS = 1000;
const IDLE_MS = 20_000;
const WORKERS_PER_PROCESS = 250;

export const ROWS: Readonly<Record<string, Row>> = {
  'submit-batched': {
    targets: { 'submits/s': '100000' },
    run: (share) => submits(share, { tasks: 1_000_000, batch: 100, inFlight: 8 }),
  },
  'submit-single': {
    targets: { 'submits/s': '12000' },
    run: (share) => submits(share, { tasks: 100_000, batch: 1, inFlight: 64 }),
  },
  'sdk-throughput': {
    targets: { 'tasks/s': '50000' },
    run: (share) =>
      throughSdk({ tasks: 500_000 * share, inFlight: IN_FLIGHT, rate: 0, waits: false }),
  },
  'sdk-results': {
    targets: {},
    run: (share) =>
      throughSdk({ tasks: 200_000 * share, inFlight: IN_FLIGHT, rate: 0, waits: true }),
  },
  'sdk-latency-2000': {
    targets: { 'p50 ms': '2', 'p99 ms': '10' },
    run: (share) => throughSdk({ tasks: 40_000 * share, inFlight: 0, rate: 2000, waits: false }),
  },
  'idle-1000-workers': { targets: { 'server CPU %': '2' }, run: idleWorkers },
  'restart-1m': { targets: { 'ready s': '2' }, run: restart },
};

async function submits(
  share: number,
  {
    tasks,
    ...order
  }: { readonly tasks: number; readonly batch: number; readonly inFlight: number },
): Promise<Readonly<Record<string, number>>> {
  const scenario = { protocol: 'http1', slots: 5000, rate: 0, ...order } as const;
  const result = await runScenario({ ...scenario, tasks: tasks * share });
  return { 'submits/s': result.submitsPerSecond, 'server µs': result.serverUs };
}

/** Submit to finished, client and worker with the SDK's defaults, a process each. */
async function throughSdk(
  order: Omit<SdkClientOrder, 'url'>,
): Promise<Readonly<Record<string, number>>> {
  const server = await ServerProcess.start();
  const { url } = server;
  const { tasks } = order;
  const worker = await startWorkers({ url, workers: 1, tasks });
  try {
    const cpuBefore = await server.cpuMs();
    const finished = message<SdkWorkerReport>(worker);
    const client = fork(join(import.meta.dirname, 'sdk-client.ts'));
    client.send({ url, ...order });
    const sent = await message<SdkClientReport>(client);
    const { finishedAt, latenciesMs, cpuMs } = await finished;
    const endedAt = Math.max(finishedAt, sent.endedAt);
    return {
      'tasks/s': (tasks * 1000) / (endedAt - sent.startedAt),
      'p50 ms': latenciesMs[Math.floor(tasks * 0.5)],
      'p99 ms': latenciesMs[Math.floor(tasks * 0.99)],
      'server µs': (((await server.cpuMs()) - cpuBefore) * 1000) / tasks,
      'client µs': (sent.cpuMs * 1000) / tasks,
      'worker µs': (cpuMs * 1000) / tasks,
    };
  } finally {
    worker.kill('SIGKILL');
    await server.stop();
  }
}

async function idleWorkers(share: number): Promise<Readonly<Record<string, number>>> {
  const server = await ServerProcess.start();
  const { url } = server;
  const workers = await Promise.all(
    Array.from({ length: IDLE_WORKERS / WORKERS_PER_PROCESS }, () =>
      startWorkers({ url, workers: WORKERS_PER_PROCESS, tasks: 0 }),
    ),
  );
  try {
    const before = await server.cpuMs();
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS * Math.max(share, 0.1)));
    const used = (await server.cpuMs()) - before;
    const residentMib = (await server.residentBytes()) / 2 ** 20;
    return { 'server CPU %': (used * 100) / (IDLE_MS * Math.max(share, 0.1)), residentMib };
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await server.stop();
  }
}

/** From the start of the process to the first answer, with a million tasks queued. */
async function restart(share: number): Promise<Readonly<Record<string, number>>> {
  const server = await ServerProcess.start();
  const body = JSON.stringify(
    Array(1000).fill({ type: 'waits', input: { text: 'x'.repeat(100) } }),
  );
  for (let batch = 0; batch < 1000 * share; batch++) {
    await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
  }
  const startedAt = performance.now();
  await server.startAgain();
  const readyMs = performance.now() - startedAt;
  await server.stop();
  return { 'ready s': readyMs / 1000 };
}

async function startWorkers(order: SdkWorkerOrder): Promise<ChildProcess> {
  const worker = fork(join(import.meta.dirname, 'sdk-worker.ts'));
  worker.send(order);
  await message(worker);
  return worker;
}

async function message<T>(child: ChildProcess): Promise<T> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the benchmark ended with code ${code}`);
  });
  const [value] = (await Promise.race([once(child, 'message'), failed])) as [T];
  return value;
}
