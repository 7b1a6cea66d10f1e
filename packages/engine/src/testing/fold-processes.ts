import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ids of the fold processes of a server. */
export function foldProcessesOf(server: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isFoldOf(server, pid)).map(Number);
}

function isFoldOf(server: number, pid: string): boolean {
  try {
    const read = (file: string) => readFileSync(join('/proc', pid, file), 'utf8');
    // The name may contain spaces; the state and the parent follow it.
    const parent = read('stat').split(') ').at(-1)?.split(' ')[1];
    return parent === String(server) && read('cmdline').includes('fold-process.ts');
  } catch {
    // The process has ended meanwhile.
    return false;
  }
}
