import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { ServerProcess } from '../path/server-process.ts';
import { threadTimes, timesPerTask } from '../thread-times.ts';
import type { LoneOrder, LoneReport } from './lone-client.ts';
import { message } from './through-sdk.ts';

/**
 * Three at once, so that most requests of the warm-up carry one task. After about 10,000 tasks V8
 * optimizes nearly all that runs once for each, which takes both cores for a twentieth of a second.
 */
const WARM_UP: LoneOrder = { tasks: 20_000, pace: { atOnce: 3 }, isMeasured: false };

type Figures = Readonly<Record<string, number>>;

/**
 * Tasks at a moderate rate, so that few share a request or a commit, with the defaults of the SDK:
 * what each costs in every process, and how long it takes from the call to the handler.
 */
export function loneTasks(tasks: number, pace: LoneOrder['pace']): Promise<Figures> {
  return withStage(tasks, async ({ server, client, worker }) => {
    // The first request of another client makes V8 forget code that it optimised for one.
    await commitsOf(server);
    await submitted({ server, client }, WARM_UP);
    const processes = [server.pid, client.pid, worker.pid].map(Number);
    const commitsBefore = await commitsOf(server);
    const before = await Promise.all(processes.map(threadTimes));
    const handled = message<LoneReport>(worker);
    const answers = await submitted({ server, client }, { tasks, pace, isMeasured: true });
    const handlers = await handled;
    // The last report is answered within this time, and the projection has read what ended.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const after = await Promise.all(processes.map(threadTimes));
    const [serverUs, clientUs, workerUs] = after.map((times, n) =>
      timesPerTask(before[n], times, tasks),
    );
    return {
      commits: ((await commitsOf(server)) - commitsBefore) / tasks,
      'server µs': serverUs.all,
      'server main µs': serverUs.main,
      'server pool µs': serverUs.pool,
      'server projection µs': serverUs.threads,
      'server v8 µs': serverUs.v8,
      'client µs': clientUs.all,
      'worker µs': workerUs.all,
      'p50 ms': at(handlers, 0.5),
      'p99 ms': at(handlers, 0.99),
      'answer p50 ms': at(answers, 0.5),
      'answer p99 ms': at(answers, 0.99),
    };
  });
}

/** Tasks of the first round after the start, beside those of the last of eleven rounds. */
export function coldTasks(tasks: number): Promise<Figures> {
  return withStage(1, async ({ server, client }) => {
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = await threadTimes(Number(server.pid));
      await submitted({ server, client }, { tasks, pace: { atOnce: 64 }, isMeasured: false });
      costs.push(timesPerTask(before, await threadTimes(Number(server.pid)), tasks).all);
    }
    const [first, ...others] = costs;
    const warm = others.slice(-WARM_ROUNDS).reduce((sum, us) => sum + us, 0) / WARM_ROUNDS;
    return { 'first µs': first, 'warm µs': warm, 'cold/warm': first / warm };
  });
}

const ROUNDS = 11;
const WARM_ROUNDS = 4;

interface Stage {
  readonly server: ServerProcess;
  readonly client: ChildProcess;
  readonly worker: ChildProcess;
}

/** A server, a client and a worker that reports after a number of measured tasks. */
async function withStage(tasks: number, act: (stage: Stage) => Promise<Figures>): Promise<Figures> {
  const server = await ServerProcess.start();
  const client = fork(join(import.meta.dirname, 'lone-client.ts'));
  const worker = fork(join(import.meta.dirname, 'lone-worker.ts'));
  try {
    worker.send({ url: server.url, tasks });
    await message(worker);
    return await act({ server, client, worker });
  } finally {
    client.kill('SIGKILL');
    worker.kill('SIGKILL');
    await server.stop();
  }
}

function submitted(
  { server, client }: Pick<Stage, 'server' | 'client'>,
  order: LoneOrder,
): Promise<LoneReport> {
  client.send({ url: server.url, ...order });
  return message<LoneReport>(client);
}

async function commitsOf({ url }: ServerProcess): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sluice_commit_seconds_count (\d+)/m.exec(page)?.[1]);
}

function at({ latenciesMs }: LoneReport, share: number): number {
  return latenciesMs[Math.floor(latenciesMs.length * share)];
}
