import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupLimits, GroupsUse, GroupUsage, ProcessGroup, ProcessGroups } from './cgroups.ts';

/**
 * Where no control group can be made: the shell sets limits for each process, and the processes of
 * an attempt are found by a variable in their environment.
 *
 * The number of processes is not limited: `ulimit -u` counts all processes of a user, and all
 * commands of an agent may have the same user. One command could keep the others from starting
 * anything.
 */
export class Rlimits implements ProcessGroups {
  readonly kind = 'rlimits';
  readonly losses = [
    'cpu is not limited',
    'memory is limited for each process, not for all of a task together',
    'the number of processes of a task is not limited',
    'a process that clears its environment and goes into the background may outlive its task',
    'the CPU time and the memory that a task used are not measured',
  ];

  async make(name: string, limits: GroupLimits): Promise<ProcessGroup> {
    return new MarkedProcesses(name, limits);
  }

  use(): GroupsUse {
    return {};
  }

  async names(): Promise<string[]> {
    return [];
  }

  open(name: string): ProcessGroup {
    return new MarkedProcesses(name, { pids: 0 });
  }

  async dispose(): Promise<void> {}
}

/** The variable that marks the processes of an attempt. */
export const MARK = 'SLUICE_ATTEMPT_ID';

const LOOKS_MAX = 100;
const BETWEEN_LOOKS_MS = 1;

class MarkedProcesses implements ProcessGroup {
  readonly joinFiles = [];
  readonly limitLines: readonly string[];
  private readonly mark: string;

  constructor(name: string, { memoryMb }: GroupLimits) {
    this.mark = `${MARK}=${name}`;
    this.limitLines =
      memoryMb === undefined || memoryMb === 0 ? [] : [`ulimit -v ${Math.ceil(memoryMb * 1024)}`];
  }

  async usage(): Promise<GroupUsage> {
    return {};
  }

  async wasOutOfMemory(): Promise<boolean> {
    return false;
  }

  async pids(): Promise<number[]> {
    const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const marked = await Promise.all(
      all.map(async (pid) => {
        const variables = (await environmentOf(pid)).split('\0');
        return variables.includes(this.mark) ? [Number(pid)] : [];
      }),
    );
    return marked.flat();
  }

  async close(): Promise<void> {}

  async remove(): Promise<void> {}
}

/**
 * The variables of a process; empty for one that has none or is gone. While a process begins
 * another program, it has neither a title nor variables for a moment. It is looked at again then:
 * one that was missed would outlive its command.
 */
async function environmentOf(pid: string): Promise<string> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
  let before = '';
  for (let look = 0; look < LOOKS_MAX; look++) {
    const environment = await read('environ');
    if (environment !== '') return environment;
    const title = await read('cmdline');
    // It began no other program between the two titles, so it has no variables.
    if (title !== '' && title === before) return '';
    if (title === '' && !(await hasProgram(pid))) return '';
    before = title;
    await sleep(BETWEEN_LOOKS_MS);
  }
  return '';
}

/** Not so for a process that has ended, a thread of the kernel, or a process of somebody else. */
function hasProgram(pid: string): Promise<boolean> {
  return readlink(`/proc/${pid}/exe`).then(
    () => true,
    () => false,
  );
}
