/** What the command line shows only on a terminal. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const GREEN = '\u001b[32msucceeded';

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
/** Ends the running task. */
let finish = Promise.withResolvers<void>();

const slow = defineTask({
  type: 'slow',
  async run(_: unknown, { progress }) {
    await progress(0.5, 'half of it');
    await finish.promise;
    return 'done';
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work([slow], { handleSignals: false });
});

afterAll(async () => {
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Runs a command on a terminal or with a pipe, and returns all its output. */
async function output(
  command: string,
  { isTerminal = true, env = {}, watch = (_text: string): void => undefined } = {},
): Promise<string> {
  const line = `${LAUNCHER} ${command}`;
  const [file, args] = isTerminal ? ['script', ['-qec', line, '/dev/null']] : ['sh', ['-c', line]];
  const { NO_COLOR: _, ...inherited } = process.env;
  const child = spawn(file as string, args as string[], {
    env: { ...inherited, TERM: 'xterm', SLUICE_URL: server.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const take = (chunk: string): void => {
    text += chunk;
    watch(text);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  await new Promise((resolve) => child.on('close', resolve));
  return text;
}

test('a submit that waits shows how far its task is, and then its output', async () => {
  const watch = (text: string): void => {
    if (text.includes('half of it')) finish.resolve();
  };

  const text = await output('task submit slow --wait', { watch });

  expect(text).toMatch(/█{12}░{12} .*half of it/);
  expect(text.trimEnd()).toMatch(/done"?$/);
});

test('colours are for terminals, and not for those who do not want them', async () => {
  finish.resolve();
  const task = await sluice.submit(slow, null);
  await task.result();
  const command = `task get ${task.id}`;

  expect(await output(command)).toContain(GREEN);
  for (const options of [
    { env: { NO_COLOR: '1' } },
    { env: { TERM: 'dumb' } },
    { isTerminal: false },
  ]) {
    const plain = await output(command, options);
    expect(plain).toContain('succeeded');
    expect(plain).not.toContain('\u001b[');
  }
});

test('without a terminal there is no bar', async () => {
  finish = Promise.withResolvers<void>();
  const waiting = output('task submit slow --wait', { isTerminal: false });
  const isRunning = async (): Promise<boolean> => {
    const answer = await fetch(`${server.url}/v1/tasks?state=running`);
    return (await answer.text()).includes('"type":"slow"');
  };
  await waitUntil(isRunning, { what: 'the handler runs', timeoutMs: 30_000 });
  finish.resolve();

  expect(await waiting).not.toMatch(/█|░|half of it/);
});
