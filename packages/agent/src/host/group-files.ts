import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Reading and writing the files of a control group. */

/** Undefined when the file is not there or is no number. */
export async function readNumber(folder: string, file: string): Promise<number | undefined> {
  const text = await readText(folder, file);
  const value = Number(text?.trim());
  return text === undefined || !Number.isSafeInteger(value) ? undefined : value;
}

export function readText(folder: string, file: string): Promise<string | undefined> {
  return readFile(join(folder, file), 'utf8').catch(() => undefined);
}

/** The number behind a word, as in `oom_kill 3`. */
export async function readWord(
  folder: string,
  file: string,
  word: string,
): Promise<number | undefined> {
  const text = (await readText(folder, file)) ?? '';
  const line = text.split('\n').find((each) => each.startsWith(`${word} `));
  return line === undefined ? undefined : Number(line.slice(word.length + 1));
}

export async function readPids(folder: string): Promise<number[]> {
  const text = (await readText(folder, 'cgroup.procs')) ?? '';
  return text.split('\n').filter(Boolean).map(Number);
}

export function write(folder: string, file: string, value: number | string): Promise<void> {
  return writeFile(join(folder, file), String(value));
}

export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
}

/** Fails while processes are in it. One that is gone already is fine. */
export async function removeFolder(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

export async function subfolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
