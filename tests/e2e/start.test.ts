import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';

const START = resolve(import.meta.dirname, '../../scripts/start.ts');

let folder: string;
let child: ChildProcess;
let printed = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  printed = '';
  child = spawn(process.execPath, [START, '--port', '0', '--data', join(folder, 'data')], {
    env: { ...process.env, WAVEFORM_FOLDER: join(folder, 'out') },
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
});

afterEach(async () => {
  if (child.exitCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

test('npm start serves, draws a picture with tasks, stays up, and stops when told to', async () => {
  await waitUntil(() => printed.includes('The picture is'), {
    what: 'the picture is drawn',
    timeoutMs: 60_000,
  });

  const [, url] = /ready at (\S+)/.exec(printed) ?? [];
  const response = await fetch(`${url}/v1/tasks?type=waveform.peaks&state=succeeded`);
  const { items } = (await response.json()) as { items: unknown[] };
  expect(items).toHaveLength(16);
  const files = await readdir(join(folder, 'out'));
  const [picture] = files.filter((name) => name.endsWith('.svg'));
  const svg = await readFile(join(folder, 'out', picture), 'utf8');
  expect(svg.match(/<path/g)).toHaveLength(16);
  expect(child.exitCode).toBe(null);

  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
