/** What `sluice` says about flags and words that are nearly right. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const PYTHON_WORKER = join(import.meta.dirname, '../../examples/workers/worker.py');

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[]): Promise<Ended> {
  const options = { env: { ...process.env, SLUICE_URL: server.url } };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

function sluice(...args: string[]): Promise<Ended> {
  return run(LAUNCHER, args);
}

test.each([
  [['--hlep'], 'unknown flag --hlep; did you mean --help?'],
  [['dev', '--hlep'], 'unknown flag --hlep; did you mean --help?'],
  [['server', '--hlep'], 'unknown flag --hlep; did you mean --help?'],
  [['task', '--hlep'], 'unknown flag --hlep; did you mean --help?'],
  [['task', '--limit', '3', 'list'], 'flags go behind it: sluice task COMMAND --limit'],
  [['server', '--log-level', 'wran'], 'not "wran"; did you mean warn?'],
  [['task', 'submit', 'x', '--on-duplicate', 'exsting'], "did you mean 'existing'?"],
  [['dead-letter', 'redrive'], 'needs --type TYPE, --fingerprint F or --all'],
  [['dead-letter', 'redrive', '--all', '--type', 'x'], 'needs --type TYPE, --fingerprint F or'],
])('sluice %j is a usage error with a hint', async (args, message) => {
  const { code, stdout, stderr } = await sluice(...args);

  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});

test.each([
  [['key', 'create', '--role', 'admn'], "did you mean 'admin'?"],
  [['task', 'list', '--state', 'runing'], "did you mean 'running'?"],
  [['run', 'list', '--status', 'faild'], "did you mean 'failed'?"],
])('sluice %j is refused with the word that was meant', async (args, hint) => {
  const { code, stderr } = await sluice(...args);

  expect(code).toBe(1);
  expect(stderr).toContain(hint);
});

test('a flag of the server may stand before the command', async () => {
  const before = await sluice('--url', server.url, '--json', 'queue', 'list');
  const behind = await sluice('queue', 'list', `--url=${server.url}/v1/`, '--json');

  for (const ended of [before, behind]) {
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('"items"') });
  }
});

test('all dead letters are redriven when that is said', async () => {
  const { code, stdout } = await sluice('dead-letter', 'redrive', '--all', '--dry-run');

  expect([code, stdout]).toEqual([0, '0 dead letters would run again\n']);
});

test('-v prints the version', async () => {
  expect(await sluice('-v')).toEqual(await sluice('--version'));
});

test('a route that is nearly right gets a suggestion', async () => {
  const answer = await fetch(`${server.url}/v1/taks?limit=1`);

  const { error } = (await answer.json()) as { error: object };
  expect(error).toMatchObject({
    code: 'route_not_found',
    message: 'no route GET /v1/taks; did you mean /v1/tasks?',
  });
});

test('the worker in Python says how it is used', async () => {
  const asked = await run('python3', [PYTHON_WORKER, '--help']);
  const wrong = await run('python3', [PYTHON_WORKER, '--hlep']);

  expect([asked.code, wrong.code]).toEqual([0, 2]);
  expect(asked.stdout).toContain('Usage: [SLUICE_URL=URL]');
  expect(asked.stdout).toContain('echo, fail, sleep');
});
