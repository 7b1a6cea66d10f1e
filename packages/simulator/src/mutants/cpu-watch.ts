import { readFileSync } from 'node:fs';

/** How often somebody looks. */
const LOOK_EVERY_MS = 1000;

/** A process that used no CPU for so long waits for what never comes. */
const IDLE_MS_MAX = 60_000;

/** The unit in which Linux counts. */
const TICK_MS = 10;

/**
 * Calls `over` when a process has used so much CPU from now on, or none for a while. Time alone
 * says nothing: on a busy machine a process may get next to none. Answers how to stop looking.
 */
export function watchCpu(pid: number, cpuMsMax: number, over: () => void): () => void {
  const beganMs = cpuMsOf(pid);
  let lastMs = beganMs;
  let idleMs = 0;
  const timer = setInterval(() => {
    const nowMs = cpuMsOf(pid);
    idleMs = nowMs > lastMs ? 0 : idleMs + LOOK_EVERY_MS;
    lastMs = nowMs;
    if (nowMs - beganMs >= cpuMsMax || idleMs >= IDLE_MS_MAX) over();
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** Where nobody can tell, all time counts. */
function cpuMsOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program comes first and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    // The process is gone, which its owner hears, or the system has no such file.
    return performance.now();
  }
}
