import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { type Ended, runSluice } from '../support/sluice-command.ts';
import { largeJson, sha256Of } from './blob-client.ts';

let folder: string;
let server: ServerProcess;
let sluice: Sluice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(join(folder, 'data'));
  sluice = new Sluice({ url: server.url });
  await sluice.work([defineTask({ type: 'echo', run: (input: unknown) => input })], {
    handleSignals: false,
  });
});

afterAll(async () => {
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

function run(...args: string[]): Promise<Ended> {
  return runSluice(args, { SLUICE_URL: server.url });
}

async function fileWith(content: string): Promise<string> {
  const path = join(folder, `${sha256Of(content)}.json`);
  await writeFile(path, content);
  return path;
}

test('a large input is submitted like any other, and its output is printed', async () => {
  const content = largeJson(400_000);

  const submitted = await run('task', 'submit', 'echo', '-i', `@${await fileWith(content)}`, '-w');

  expect(submitted.code).toBe(0);
  expect(JSON.parse(submitted.stdout)).toEqual(JSON.parse(content));
  const id = /submitted (\S+)/.exec(submitted.stderr)?.[1] ?? '';
  const shown = await run('task', 'get', id);
  expect(shown.stdout).toMatch(new RegExp(`input +blob ${sha256Of(content)}`));
  expect(shown.stdout).toMatch(/output +blob [0-9a-f]{64}/);
});

test('bytes that are not UTF-8 are refused as input, and kept as a blob', async () => {
  const path = join(folder, 'latin1.json');
  const bytes = Buffer.from([0x22, 0xe9, 0x22]);
  await writeFile(path, bytes);

  const submitted = await run('task', 'submit', 'echo', '--input', `@${path}`);
  const put = await run('blob', 'put', path);

  expect(submitted).toMatchObject({ code: 2, stderr: expect.stringContaining('not valid UTF-8') });
  expect(put.stdout.trim()).toBe(createHash('sha256').update(bytes).digest('hex'));
});

test('blobs go up and come down', async () => {
  const content = largeJson(400_000);
  const path = await fileWith(content);
  const copy = join(folder, 'copy.json');

  const put = await run('blob', 'put', path);
  const printed = await run('blob', 'get', put.stdout.trim());
  const saved = await run('blob', 'get', put.stdout.trim(), '--output', copy);

  expect(put).toMatchObject({ code: 0, stdout: `${sha256Of(content)}\n` });
  expect(printed).toMatchObject({ code: 0, stdout: `${content}\n` });
  expect(saved).toMatchObject({ code: 0, stdout: '' });
  expect(await readFile(copy, 'utf8')).toBe(content);
});

test('what is not there is said', async () => {
  const missing = await run('blob', 'get', sha256Of('missing'));
  const wrong = await run('blob', 'get', 'x');
  const unreadable = await run('blob', 'put', join(folder, 'nowhere.json'));

  expect([missing.code, wrong.code, unreadable.code]).toEqual([1, 1, 2]);
  expect(missing.stderr).toContain('(blob_not_found)');
  expect(unreadable.stderr).toContain('nowhere.json');
});
