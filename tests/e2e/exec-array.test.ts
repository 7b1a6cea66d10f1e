/** `sluice exec --array` and `sluice queue usage`, with a real agent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { ApiClient } from './api-client.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

let host: ServerWithAgent;
let api: ApiClient;

beforeAll(async () => {
  host = await ServerWithAgent.start();
  api = host.api;
});

afterAll(() => host.close());

function begin(args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const env = { ...process.env, SLUICE_URL: host.url };
  const child = spawn(LAUNCHER, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (bytes) => {
    said.stdout += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    said.stderr += String(bytes);
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, ...said }));
  });
  return { child, ended };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const type = (...args: string[]): Promise<Ended> => begin(args).ended;

test('a command runs for each element, and its output is printed', async () => {
  const { code, stdout, stderr } = await type('exec', '--array', '1-12', '--', 'echo', 'no {}');

  const expected = Array.from({ length: 12 }, (_, index) => `no ${index + 1}`);
  expect(stdout.trim().split('\n').sort()).toEqual(expected.sort());
  expect(stderr).toContain('all 12 commands succeeded');
  expect(code).toBe(0);
});

test('those that fail are listed, and the exit code says so', async () => {
  const script = 'test "$0" -lt 3 || exit 5';
  const { code, stderr } = await type('exec', '--array', '1-4', '--', 'sh', '-c', script);

  expect(stderr).toContain('2 of 4 commands did not succeed:');
  expect(stderr).toMatch(/^ {2}3 {2}t_\w+ {2}failed: .*5/m);
  expect(stderr).toMatch(/^ {2}4 {2}t_\w+ {2}failed: .*5/m);
  expect(code).toBe(1);
});

test('a detached array is found by its tag', async () => {
  const { stdout, code } = await type('exec', '--array', 'a,b,c', '--detach', '--', 'true');

  expect(code).toBe(0);
  const [, tag] = /^array=(\w+)$/.exec(stdout.trim()) ?? [];
  const { body } = await api.get(`/v1/tasks?tag.array=${tag}`);
  const commands = body.items.map(({ exec }: { exec: { command: string[] } }) => exec.command);
  expect(commands.toSorted()).toEqual([
    ['true', 'a'],
    ['true', 'b'],
    ['true', 'c'],
  ]);
});

test('Ctrl-C cancels all that have not ended', async () => {
  const { child, ended } = begin([
    'exec',
    '--array',
    '1-5',
    '--tag',
    'k=ctrl',
    '--',
    'sleep',
    '600',
  ]);
  const list = async () => (await api.get('/v1/tasks?tag.k=ctrl')).body.items;
  await waitUntil(async () => (await list()).length === 5, {
    what: 'all are submitted',
    timeoutMs: 60_000,
  });

  child.kill('SIGINT');
  const { code, stderr } = await ended;

  expect(stderr).toContain('5 commands are cancelled');
  expect(code).toBe(130);
  const isOver = ({ state }: { state: string }): boolean => state === 'cancelled';
  await waitUntil(async () => (await list()).every(isOver), {
    what: 'all are cancelled',
    timeoutMs: 60_000,
  });
});

test('usage shows what programs used beside what was reserved, and what would do', async () => {
  const many = ['--array', '1-20', '--memory', '512m', '--cpu', '1', '--tag', 'k=usage'];
  await type('exec', ...many, '--', 'sleep', '0.0{}');

  const shown = await type('queue', 'usage', 'command', '--tag', 'k=usage');
  const json = await type('queue', 'usage', 'command', '--tag', 'k=usage', '--json');
  const none = await type('queue', 'usage', 'nothing');

  expect(shown.stdout).toMatch(/^sleep +20 .* 512 +memory \d+ MiB/m);
  const { groups } = JSON.parse(json.stdout);
  expect(groups).toHaveLength(1);
  expect(groups[0]).toMatchObject({ what: 'sleep', attempts: 20, reserved: { memoryMb: 512 } });
  expect(groups[0].memoryMb.max).toBeGreaterThan(0);
  expect(none.stderr).toContain("nothing is known of tasks of the type 'nothing'");
});

test('wrong elements are refused before anything runs', async () => {
  const { code, stderr } = await type('exec', '--array', '9-1', '--', 'true');

  expect(code).toBe(2);
  expect(stderr).toContain('write the smaller number first');
});
