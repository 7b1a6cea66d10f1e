import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessGroup } from '../host/cgroups.ts';

const LOOKS_MAX = 200;
const BETWEEN_LOOKS_MS = 10;

/** Sends a signal to a process, if it is still there. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  // 0 stands for this process and its group.
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Asks everything in the group to end. */
export async function terminate(group: ProcessGroup, leader: number): Promise<void> {
  signalProcess(-leader, 'SIGTERM');
  // Processes that left the process group are in the control group still.
  for (const pid of await group.pids()) if (pid !== leader) signalProcess(pid, 'SIGTERM');
}

/**
 * Kills everything in the group, also what forks while it is killed. Returns whether nothing is
 * left: a process that waits for a dead disk cannot be killed.
 */
export async function killAll(group: ProcessGroup, leader: number): Promise<boolean> {
  await group.close();
  for (let look = 0; look < LOOKS_MAX; look++) {
    signalProcess(-leader, 'SIGKILL');
    const pids = await group.pids();
    if (pids.length === 0) return true;
    for (const pid of pids) signalProcess(pid, 'SIGKILL');
    await sleep(BETWEEN_LOOKS_MS);
  }
  return false;
}
