import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { StolenTime } from '../stolen-time.ts';
import type { Protocol } from './connection.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { ServerProcess } from './server-process.ts';
import type { WorkerOrder, WorkerReport } from './worker.ts';

export interface Scenario {
  readonly protocol: Protocol;
  readonly tasks: number;
  readonly batch: number;
  readonly inFlight: number;
  readonly slots: number;
  /** Tasks per second; 0 for as fast as possible. */
  readonly rate: number;
}

export interface ScenarioResult {
  readonly tasksPerSecond: number;
  readonly submitsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time per task of each process. */
  readonly serverUs: number;
  readonly loadUs: number;
  readonly workerUs: number;
  readonly reportsPerRequest: number;
  /**
   * Share of the machine's time that its host gave to other machines. Above 1 %, distrust the run.
   */
  readonly stolenPercent: number;
}

/** Runs one scenario on a fresh server, from submit to finished. The worker is connected first. */
export async function runScenario(
  scenario: Scenario,
  profileFlags?: readonly string[],
): Promise<ScenarioResult> {
  const server = await (profileFlags === undefined
    ? ServerProcess.start()
    : ServerProcess.startSources(profileFlags));
  try {
    const { url } = server;
    const { protocol, tasks } = scenario;
    const worker = fork(join(import.meta.dirname, 'worker.ts'));
    const workerOrder: WorkerOrder = { url, protocol, tasks, slots: scenario.slots };
    worker.send(workerOrder);
    await message(worker);

    const cpuBefore = await server.cpuMs();
    const stolen = await StolenTime.start();
    const load = fork(join(import.meta.dirname, 'load.ts'));
    const { batch, inFlight, rate } = scenario;
    const loadOrder: LoadOrder = { url, protocol, tasks, batch, inFlight, rate };
    const finished = message<WorkerReport>(worker);
    load.send(loadOrder);
    const loaded = await message<LoadReport>(load);
    const worked = await finished;
    const serverMs = (await server.cpuMs()) - cpuBefore;
    return result(tasks, { loaded, worked, serverMs, stolenPercent: await stolen.percent() });
  } finally {
    await server.stop();
  }
}

interface Measured {
  readonly loaded: LoadReport;
  readonly worked: WorkerReport;
  readonly serverMs: number;
  readonly stolenPercent: number;
}

function result(tasks: number, measured: Measured): ScenarioResult {
  const { loaded, worked, serverMs, stolenPercent } = measured;
  const { latenciesMs } = worked;
  const elapsedMs = worked.finishedAt - loaded.startedAt;
  return {
    tasksPerSecond: (tasks * 1000) / elapsedMs,
    submitsPerSecond: (tasks * 1000) / (loaded.ackedAt - loaded.startedAt),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    serverUs: (serverMs * 1000) / tasks,
    loadUs: (loaded.cpuMs * 1000) / tasks,
    workerUs: (worked.cpuMs * 1000) / tasks,
    reportsPerRequest: tasks / worked.reportRequests,
    stolenPercent,
  };
}

function percentile(sorted: readonly number[], fraction: number): number {
  return sorted.length === 0 ? Number.NaN : sorted[Math.floor(sorted.length * fraction)];
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = (await Promise.race([once(child, 'message'), failure(child)])) as [T];
  return value;
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number];
  throw new Error(`a process of the benchmark ended with code ${code}`);
}
