import { runScenario } from '../path/scenario.ts';
import { ServerProcess } from '../path/server-process.ts';
import { coldTasks, loneTasks } from './lone-task.ts';
import { startWorkers, throughSdk } from './through-sdk.ts';

interface Row {
  /** By metric. */
  readonly targets: Readonly<Record<string, string>>;
  /** Runs with this share of the tasks, on a separate server. */
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
  'lone-alone': {
    targets: { 'server µs': '150', 'p50 ms': '0.8', 'p99 ms': '5' },
    run: (share) => loneTasks(atLeast(20, 2000 * share), 'alone'),
  },
  'lone-500': {
    targets: { 'server µs': '150', 'p50 ms': '0.8', 'p99 ms': '5' },
    run: (share) => loneTasks(atLeast(20, 5000 * share), { rate: 500 }),
  },
  'lone-2000': {
    targets: { 'server µs': '150', 'p50 ms': '0.8', 'p99 ms': '5' },
    run: (share) => loneTasks(atLeast(20, 20_000 * share), { rate: 2000 }),
  },
  cold: {
    targets: { 'cold/warm': '1.5' },
    run: (share) => coldTasks(atLeast(100, 10_000 * share)),
  },
  start: { targets: {}, run: () => start(ServerProcess.start()) },
  'start-sources': { targets: {}, run: () => start(ServerProcess.startSources()) },
  'idle-1000-workers': { targets: { 'server CPU %': '2' }, run: idleWorkers },
  'restart-1m': { targets: { 'ready s': '2' }, run: restart },
};

/** A quick run is still long enough to have a median. */
function atLeast(least: number, tasks: number): number {
  return Math.max(least, tasks);
}

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

/** A server with an empty folder, until it serves. The first start compiles for the others. */
async function start(starting: Promise<ServerProcess>): Promise<Readonly<Record<string, number>>> {
  const server = await starting;
  const startedAt = performance.now();
  await server.startAgain();
  const readyMs = performance.now() - startedAt;
  const cpuMs = await server.cpuMs();
  const residentMib = (await server.residentBytes()) / 2 ** 20;
  await server.stop();
  return { 'ready ms': readyMs, 'CPU ms': cpuMs, residentMib };
}

/**
 * Workers that have nothing to do. In the first seconds each tells what it uses, and again when it
 * uses less than at its start; that is counted separately.
 */
async function idleWorkers(share: number): Promise<Readonly<Record<string, number>>> {
  const server = await ServerProcess.start();
  const { url } = server;
  const workers = await Promise.all(
    Array.from({ length: IDLE_WORKERS / WORKERS_PER_PROCESS }, () =>
      startWorkers({ url, workers: WORKERS_PER_PROCESS, tasks: 0 }),
    ),
  );
  const ms = IDLE_MS * Math.max(share, 0.1);
  const cpuPercent = async (): Promise<number> => {
    const before = await server.cpuMs();
    await new Promise((resolve) => setTimeout(resolve, ms));
    return (((await server.cpuMs()) - before) * 100) / ms;
  };
  try {
    const arriving = await cpuPercent();
    const idle = await cpuPercent();
    const residentMib = (await server.residentBytes()) / 2 ** 20;
    return { 'server CPU %, first 20 s': arriving, 'server CPU %': idle, residentMib };
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
