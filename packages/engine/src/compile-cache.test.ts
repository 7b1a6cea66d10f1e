import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** More files than the program loads by itself, and fewer than the thread loads. */
const FILES_MIN = 20;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-compiled-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

test('a thread keeps compiled sources where the program that starts it does', async () => {
  await startThread(`enableCompileCache(${JSON.stringify(join(folder, 'kept'))})`);

  const kept = await readdir(join(folder, 'kept'), { recursive: true });
  expect(kept.length).toBeGreaterThan(FILES_MIN);
});

test('a thread of a program that keeps none keeps none', async () => {
  await startThread('');

  expect(await readdir(folder)).toEqual(['program.mjs']);
});

/** Runs a program that starts a thread that loads the core. */
async function startThread(first: string): Promise<void> {
  const urlOf = (file: string) => JSON.stringify(new URL(file, import.meta.url));
  const program = `
    import { enableCompileCache } from 'node:module';
    import { Worker } from 'node:worker_threads';
    ${first};
    const { envWithCompileCache } = await import(${urlOf('./compile-cache.ts')});
    new Worker(new URL(${urlOf('./fold.ts')}), { env: envWithCompileCache() });
  `;
  const path = join(folder, 'program.mjs');
  await writeFile(path, program);
  await promisify(execFile)(process.execPath, [path], { env: {} });
}
