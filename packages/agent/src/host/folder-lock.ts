import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Keeps two agents from using one folder: each would take the work of the other for something that
 * nobody owns. A process is known by its number and its start, because numbers are used again.
 */
export class FolderLock {
  private readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static take(folder: string): FolderLock {
    const path = join(folder, 'agent.pid');
    const mine = `${process.pid} ${startOf(process.pid)}\n`;
    for (;;) {
      try {
        writeFileSync(path, mine, { flag: 'wx', mode: 0o600 });
        return new FolderLock(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const [pid = 0, start = ''] = readOwner(path);
      if (pid !== 0 && startOf(pid) === start) {
        throw new Error(`the agent with pid ${pid} uses ${folder}; choose another --work-dir`);
      }
      unlinkSync(path);
    }
  }

  release(): void {
    unlinkSync(this.path);
  }
}

function readOwner(path: string): [number, string] | [] {
  try {
    const [pid = '', start = ''] = readFileSync(path, 'utf8').trim().split(' ');
    return [Number(pid), start];
  } catch {
    return [];
  }
}

/**
 * Ticks from the boot of the host to the start of a process; empty when there is none. One that has
 * ended and waits to be collected is none: not every supervisor collects.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may have spaces and brackets.
    const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? '' : (others[18] ?? '');
  } catch {
    return '';
  }
}
