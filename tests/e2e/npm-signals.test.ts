/** Signals that reach npm only, as from a process manager that started `npx sluice server`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = join(import.meta.dirname, '../..');

const WAIT = { timeout: 20_000 };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function isServing(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function expectStopped({ url }: ServerProcess): Promise<void> {
  const isGone = async () => !(await isServing(url));
  await waitUntil(isGone, { what: 'the server stops', timeoutMs: 20_000 });
  // Its data folder is free soon after.
  await vi.waitFor(async () => {
    const next = await ServerProcess.startDev(join(folder, 'data'));
    await next.kill();
  }, WAIT);
}

test.each([
  ['npx sluice dev', 'npx', ['sluice', 'dev']],
  ['npm start', 'npm', ['start', '--']],
])('SIGTERM to %s stops the server', async (_title, command, args) => {
  const flags = ['--port', '0', '--data', join(folder, 'data')];
  const env = { WAVEFORM_FOLDER: join(folder, 'out') };
  const npm = await ServerProcess.start({ command, args: [...args, ...flags], env });
  expect(await isServing(npm.url)).toBe(true);

  npm.signal('SIGTERM');

  await expectStopped(npm);
  await npm.exited();
});

test('a server in the background of a shell stays when the shell ends', async () => {
  const flags = `--port 0 --data ${join(folder, 'data')}`;
  const launcher = join(ROOT, 'packages/cli/bin/sluice');
  const line = `${launcher} dev ${flags} & echo pid $!; wait`;
  // As under npx, but npm is not the parent of this shell.
  const env = { npm_lifecycle_event: 'npx' };
  const shell = await ServerProcess.start({ command: 'sh', args: ['-c', line], env });
  const [, pid] = await shell.printed(/pid (\d+)/);

  shell.signal('SIGKILL');
  await waitUntil(() => !isAlive(shell.pid), { what: 'the shell ended', timeoutMs: 20_000 });

  expect(await isServing(shell.url)).toBe(true);
  process.kill(Number(pid), 'SIGKILL');
  await shell.exited();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // No such process.
    return false;
  }
}
