import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ServerProcess } from '../path/server-process.ts';
import type { SdkClientOrder, SdkClientReport } from './sdk-client.ts';
import type { SdkWorkerOrder, SdkWorkerReport } from './sdk-worker.ts';

/**
 * Submit to finished, with the SDK's defaults, on a prepared server. Client and worker each run in
 * a separate process.
 */
export async function throughSdk(
  order: Omit<SdkClientOrder, 'url'>,
  prepare: (server: ServerProcess) => Promise<void> = async () => undefined,
): Promise<Readonly<Record<string, number>>> {
  const server = await ServerProcess.start();
  await prepare(server);
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

export async function startWorkers(order: SdkWorkerOrder): Promise<ChildProcess> {
  const worker = fork(join(import.meta.dirname, 'sdk-worker.ts'));
  worker.send(order);
  await message(worker);
  return worker;
}

/** The next message of a process, which must not end before it. */
export async function message<T>(child: ChildProcess): Promise<T> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the benchmark ended with code ${code}`);
  });
  const [value] = (await Promise.race([once(child, 'message'), failed])) as [T];
  return value;
}
