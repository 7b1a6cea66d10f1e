import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

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

async function startServer(): Promise<ServerProcess> {
  const server = await ServerProcess.startDev(folder);
  servers.push(server);
  return server;
}

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function sluice(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(LAUNCHER, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

test('help goes to stdout and names the commands and their flags', async () => {
  const all = await sluice('--help');
  const dev = await sluice('dev', '--help');

  expect(all).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('dev ') });
  expect(dev).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--data DIR') });
});

test.each([
  [['dve'], "unknown command 'dve'; did you mean 'dev'?"],
  [['serve-the-world'], "unknown command 'serve-the-world'; see sluice --help"],
  [['dev', '--prot', '1'], 'unknown flag --prot; did you mean --port?'],
  [['dev', '--port'], '--port needs a value'],
  [['dev', '--port', 'x'], "--port takes a number from 0 to 65535, not 'x'"],
  [['dev', '--port', '70000'], "--port takes a number from 0 to 65535, not '70000'"],
  [['dev', 'now'], "unexpected argument 'now'"],
])('sluice %j is a usage error with a hint', async (args, message) => {
  const ended = await sluice(...args);

  expect(ended.code).toBe(2);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).toContain(message);
});

test('a port that is taken is named, and the way out', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };

  const ended = await sluice('dev', '--port', String(port), '--data', folder);

  taken.close();
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`port ${port} is in use; choose another one with --port`);
});

test('a second server on the same folder refuses to start', async () => {
  await startServer();

  const second = await sluice('dev', '--port', '0', '--data', folder);

  expect(second.code).toBe(1);
  expect(second.stderr).toContain(join(folder, 'log'));
});

test.each(['/proc/nowhere', '/dev/null/data'])('a folder that cannot be: %s', async (data) => {
  const ended = await sluice('dev', '--port', '0', '--data', data);

  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('cannot start');
  expect(ended.stderr).toContain(data);
});

test('the data is for the eyes of its owner only', async () => {
  await startServer();

  const { mode } = await stat(join(folder, 'log'));

  expect((mode & 0o777).toString(8)).toBe('700');
});

test('SIGTERM drains: workers are told, and their leases survive the restart', async () => {
  const first = await startServer();
  const api = new ApiClient(first.url, 'http1');
  const { body } = await api.post('/v1/tasks', { type: 'hello' });
  const session = new SessionUnderTest(first.url, 'h2c');
  const { sessionId } = await session.welcomed();
  const { lease } = await session.takeTask();
  const waited = api.get(`/v1/tasks/${body.id}/wait?timeoutMs=60000`);
  // The wait has to be on the server before the server is told to stop.
  await api.get('/health/live');

  first.signal('SIGTERM');

  expect(await first.exited()).toBe(0);
  await session.closed;
  expect((await waited).body).toMatchObject({ state: 'leased' });
  api.close();

  const second = await startServer();
  const again = new SessionUnderTest(second.url, 'http1', {
    resume: { sessionId, running: [lease] },
  });
  expect(await again.welcomed()).toMatchObject({ resumed: true, lost: [] });
  const report = await new ApiClient(second.url, 'h2c').report(sessionId, [
    { lease, kind: 'succeeded', output: 'after the restart' },
  ]);
  expect(report.body).toEqual({ outcomes: ['ok'] });
  expect(again.waitingTasks).toBe(0);
});

test('a server that sits idle with open connections stops at once', async () => {
  const server = await startServer();
  const api = new ApiClient(server.url, 'h2c');
  await api.get('/health/ready');
  const kept = await fetch(`${server.url}/health/live`);
  await kept.text();

  server.signal('SIGINT');

  expect(await server.exited()).toBe(0);
  api.close();
});

test('the OpenAPI document is served', async () => {
  const server = await startServer();

  const document = await (await fetch(`${server.url}/openapi.json`)).json();

  expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/v1/tasks': expect.anything() } });
});
