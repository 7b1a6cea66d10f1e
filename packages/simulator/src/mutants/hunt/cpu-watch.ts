import { readFileSync } from 'node:fs';

/** How often the CPU time is read. */
const LOOK_EVERY_MS = 1000;

/** A process that used no CPU for this long is stuck. */
const IDLE_MS_MAX = 60_000;

/** The unit of CPU time in `/proc`. */
const TICK_MS = 10;

/**
 * Calls `over` when a process has used `cpuMsMax` of CPU from now on, or no CPU for a while.
 * Elapsed time alone says nothing: on a busy machine a process may get almost no CPU. Returns a
 * function that stops the watch.
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

/** If the CPU time cannot be read, elapsed time counts instead. */
function cpuMsOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program name comes first and may contain any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    // The process ended, which its owner notices, or the system has no such file.
    return performance.now();
  }
}
