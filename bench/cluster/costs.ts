import { usageOf } from '../peers/usage.ts';
import { threadTimes, timesPerTask } from '../thread-times.ts';
import { finishRate } from './measures.ts';
import { BenchCluster } from './setups.ts';

/** Where the CPU time of a task goes that is submitted and finished on PostgreSQL. */
export async function measureCosts(tasks: number, print: (line: string) => void): Promise<void> {
  const cluster = await BenchCluster.start(1);
  try {
    const { url, pid } = await cluster.servers.owner();
    await finishRate(url, Math.min(tasks, 20_000));
    const own = process.cpuUsage();
    const threads = await threadTimes(pid);
    const database = await usageOf([cluster.databasePid]);
    const rate = await finishRate(url, tasks);
    const { user, system } = process.cpuUsage(own);
    const byThread = timesPerTask(threads, await threadTimes(pid), tasks);
    const { cpuMs } = await usageOf([cluster.databasePid]);
    const perTask = (cpuMicros: number) => `${(cpuMicros / tasks).toFixed(1)} µs`;
    const parts = Object.entries(byThread).map(([duty, us]) => `${duty} ${us.toFixed(1)}`);
    const server = parts.join(', ');
    print(
      `costs: at ${Math.round(rate)} tasks/s a task takes ${perTask(user + system)} of CPU in ` +
        `client and worker, ${perTask((cpuMs - database.cpuMs) * 1000)} in the database; in the ` +
        `server: ${server}`,
    );
  } finally {
    await cluster.stop();
  }
}
