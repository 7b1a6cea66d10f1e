import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reading and writing the files of a control group. They are in memory, so waiting for a thread
 * would take longer than the call itself.
 */

/** Undefined when the file is not there or is no number. */
export function readNumber(folder: string, file: string): number | undefined {
  const text = readText(folder, file);
  const value = Number(text?.trim());
  return text === undefined || !Number.isSafeInteger(value) ? undefined : value;
}

export function readText(folder: string, file: string): string | undefined {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return undefined;
  }
}

/** The number behind a word, as in `oom_kill 3`. */
export function readWord(folder: string, file: string, word: string): number | undefined {
  const text = readText(folder, file) ?? '';
  const line = text.split('\n').find((each) => each.startsWith(`${word} `));
  return line === undefined ? undefined : Number(line.slice(word.length + 1));
}

export function readPids(folder: string): number[] {
  const text = readText(folder, 'cgroup.procs') ?? '';
  return text.split('\n').filter(Boolean).map(Number);
}

export function write(folder: string, file: string, value: number | string): void {
  writeFileSync(join(folder, file), String(value));
}

/** For a file that not every kernel has. */
export function tryWrite(folder: string, file: string, value: number | string): void {
  try {
    write(folder, file, value);
  } catch {
    // What it would limit is limited as well as this kernel can.
  }
}

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
}

/** Fails while processes are in it. One that is gone already is fine. */
export function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** One that cannot be removed yet stays. */
export function tryRemoveFolder(folder: string): void {
  try {
    removeFolder(folder);
  } catch {
    // A process is in it.
  }
}

export function subfolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}
