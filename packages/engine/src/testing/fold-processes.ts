import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ids of the processes that fold for another one. */
export function foldProcessesOf(server: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isFoldOf(server, pid)).map(Number);
}

function isFoldOf(server: number, pid: string): boolean {
  try {
    const read = (file: string) => readFileSync(join('/proc', pid, file), 'utf8');
    // The name may hold spaces; behind it stand the state and the parent.
    const parent = read('stat').split(') ').at(-1)?.split(' ')[1];
    return parent === String(server) && read('cmdline').includes('fold-process.ts');
  } catch {
    // Gone meanwhile.
    return false;
  }
}
