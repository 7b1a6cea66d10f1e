import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessGroup, ProcessGroups } from '../host/cgroups.ts';
import { signalProcess } from '../host/signal-process.ts';

const LOOKS_MAX = 200;
const BETWEEN_LOOKS_MS = 10;

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

/** Ends what is left of an attempt, and removes its group. */
export async function endProcesses(groups: ProcessGroups, name: string): Promise<void> {
  const group = groups.open(name);
  // The shell that led the processes is gone, or in the group.
  await killAll(group, 0);
  await group.remove().catch(() => undefined);
}
