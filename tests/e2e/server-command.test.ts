import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

let folder: string;
const servers: ServerProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function sluiceServer(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, cwd: folder };
    execFile(LAUNCHER, ['server', ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

test('file, environment and flags make the configuration that is printed and used', async () => {
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, 'port: 0\nlimits: {tasksMax: 3, finishedTasksMax: 0, deadLettersMax: 0}\n');
  const env = { SLUICE_CONFIG: file, SLUICE_LIMITS_TASKS_MAX: '2' };

  const printed = await sluiceServer(['--print-config', '--data', folder], env);
  const args = ['server', '--data', join(folder, 'data')];
  const server = await ServerProcess.start({ command: LAUNCHER, args, env });
  servers.push(server);
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const body = '{"type":"a"}';
    statuses.push((await fetch(`${server.url}/v1/tasks`, { method: 'POST', body })).status);
  }

  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toContain(`port: 0 # file ${file}\n`);
  expect(printed.stdout).toContain('  tasksMax: 2 # environment SLUICE_LIMITS_TASKS_MAX\n');
  expect(printed.stdout).toContain(`dataFolder: ${folder} # flag --data\n`);
  expect(statuses).toEqual([201, 201, 429]);
});

test('a configuration with mistakes is refused with all of them', async () => {
  await writeFile(join(folder, 'sluice.yaml'), 'prot: 1\n');

  const ended = await sluiceServer(['--config', 'sluice.yaml', '--log-level', 'loud']);
  const missing = await sluiceServer(['--config', 'nowhere.yaml']);

  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('file sluice.yaml: prot is not a known setting\n');
  expect(ended.stderr).toContain('flag --log-level: logLevel must be one of debug, info');
  expect(missing).toMatchObject({ code: 2, stdout: '' });
  expect(missing.stderr).toContain('nowhere.yaml');
});

test('a server that others could reach is refused without TLS, unless that is wanted', async () => {
  const refused = await sluiceServer(['--host', '0.0.0.0', '--port', '0', '--data', folder]);

  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("host '0.0.0.0' can be reached from other machines");
  expect(refused.stderr).toContain('tls.certFile');
  expect(refused.stderr).toContain('--allowed-hosts');
  expect(refused.stderr).toContain(`'sluice key create --role admin --data ${folder}'`);
});

test('help names every flag with its default', async () => {
  const { code, stdout } = await sluiceServer(['--help']);

  expect(code).toBe(0);
  expect(stdout).toContain('  --config FILE\n');
  expect(stdout).toMatch(/--http-connections-max N\n.*\(default: 10000\)/s);
});

test('an address of IPv6 is served and printed as one', async () => {
  const server = await ServerProcess.startServer(folder, '--host', '::1');
  servers.push(server);

  const answer = await fetch(`${server.url}/health/ready`);

  expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect(answer.status).toBe(200);
});

test('a limit that has become too small is refused by name, and nothing is lost', async () => {
  const small = ['--limits-finished-tasks-max', '0', '--limits-dead-letters-max', '0'];
  const first = await ServerProcess.startServer(folder);
  const body = JSON.stringify(Array(5).fill({ type: 'a' }));
  const answer = await fetch(`${first.url}/v1/tasks`, { method: 'POST', body });
  const { items } = (await answer.json()) as { items: { id: string }[] };
  const { id } = items[4];
  await first.kill();

  const flags = ['--port', '0', '--data', folder, '--limits-tasks-max', '2', ...small];
  const refused = await sluiceServer(flags);

  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    'the stored data does not fit into tasksMax (2); raise that limit',
  );
  const again = await ServerProcess.startServer(folder);
  servers.push(again);
  expect((await fetch(`${again.url}/v1/tasks/${id}`)).status).toBe(200);
});
