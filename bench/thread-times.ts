import { readdir, readFile } from 'node:fs/promises';

/** What the threads of a Node process do, by the names that Node gives them. */
const DUTIES: Readonly<Record<string, string>> = {
  MainThread: 'main',
  'libuv-worker': 'pool',
  WorkerThread: 'threads',
};

/**
 * CPU time of a process in microseconds since its start, by duty: `main`, the thread `pool`, other
 * JavaScript `threads`, and `v8` for garbage collection and compilation. The kernel counts it in
 * nanoseconds, so that short measurements are exact.
 */
export async function threadTimes(pid: number): Promise<Record<string, number>> {
  const times: Record<string, number> = { main: 0, pool: 0, threads: 0, v8: 0 };
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    const name = (await readFile(`${folder}/comm`, 'utf8')).trim();
    const [ns] = (await readFile(`${folder}/schedstat`, 'utf8')).split(' ');
    times[DUTIES[name] ?? 'v8'] += Number(ns) / 1000;
  }
  return times;
}

/** What was used per task between two measurements, with the sum as `all`. */
export function timesPerTask(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  tasks: number,
): Record<string, number> {
  const used: Record<string, number> = { all: 0 };
  for (const [duty, us] of Object.entries(after)) {
    used[duty] = (us - before[duty]) / tasks;
    used.all += used[duty];
  }
  return used;
}
