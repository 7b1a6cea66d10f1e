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

interface RunOptions {
  readonly env?: object;
  /** Called when the first output arrives. */
  readonly onOutput?: () => void;
}

function run(
  file: string,
  args: readonly string[],
  { env = {}, onOutput = () => undefined }: RunOptions = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    child.stdout?.once('data', onOutput);
  });
}

function sluice(...args: string[]): Promise<Ended> {
  return run(LAUNCHER, args);
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
  [[], 'Usage: sluice COMMAND'],
  [['task'], 'Usage: sluice task COMMAND'],
  [['task', 'list', '--limit', '0'], '--limit must be greater than 0'],
  [['task', 'submit', 'x', '--priority'], 'sluice: --priority needs a value'],
])('sluice %j is a usage error with a hint', async (args, message) => {
  const ended = await sluice(...args);

  expect(ended.code).toBe(2);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).toContain(message);
});

test('help of a command is there in two ways', async () => {
  const [asked, flagged] = [await sluice('help', 'task'), await sluice('task', '--help')];

  expect(asked).toEqual(flagged);
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('sluice task COMMAND') });
  expect((await sluice('dev', '--port', '1', '--help')).code).toBe(0);
});

test('a port that is taken is named, and the way out', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };

  const ended = await sluice('dev', '--port', String(port), '--data', folder);

  taken.close();
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`port ${port} is in use; choose another port with --port`);
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
  // The wait must reach the server before the server is told to stop.
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

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a server that gets %s while its lines are followed is exit code 3',
  async (signal) => {
    const server = await startServer();
    const api = new ApiClient(server.url, 'http1');
    const { body } = await api.post('/v1/tasks', { type: 'hello' });
    const session = new SessionUnderTest(server.url, 'http1');
    const { sessionId } = await session.welcomed();
    const { lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, kind: 'log', seq: 1, lines: ['first'] }]);
    const onOutput = (): void => server.signal(signal);

    const args = ['task', 'logs', body.id, '--url', server.url];
    const plain = await run(LAUNCHER, [...args, '--plain']);
    const { code, stdout, stderr } = await run(LAUNCHER, [...args, '--follow'], { onOutput });

    await server.exited();
    api.close();
    expect(plain.stdout).toBe('first\n');
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+Z #1 first\n$/);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^sluice: lost the connection to http:\S+ \(.*\)\n$/);
  },
);

test('a server that hangs is passed over, and a submit is one task', async () => {
  const hanging = await startServer();
  const good = await ServerProcess.startDev(join(folder, 'good'));
  servers.push(good);
  const env = { SLUICE_URL: `${hanging.url},${good.url}` };
  hanging.signal('SIGSTOP');

  const submitted = await run(LAUNCHER, ['task', 'submit', 'hello', '--json'], { env });
  const listed = await run(LAUNCHER, ['task', 'list', '--json'], { env });

  expect([submitted.code, listed.code]).toEqual([0, 0]);
  expect(Object.keys(JSON.parse(submitted.stdout))).toEqual(['id', 'state']);
  expect(JSON.parse(listed.stdout).items).toMatchObject([{ id: JSON.parse(submitted.stdout).id }]);
});

test.each([
  ['log', 'dump', '--data'],
  ['task', 'list', '--json', '--url'],
])('output that finds no room is an error: sluice %s %s', async (...args) => {
  const { url } = await startServer();
  await fetch(`${url}/v1/tasks`, { method: 'POST', body: '{"type": "hello"}' });
  const command = [LAUNCHER, ...args, args[0] === 'log' ? folder : url].join(' ');

  const full = await run('bash', ['-c', `${command} > /dev/full`]);
  const cut = await run('bash', ['-c', `${command} | head -c 1; exit \${PIPESTATUS[0]}`]);

  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/^sluice: cannot write the output: ENOSPC.*\n$/);
  expect(cut).toMatchObject({ code: 0, stderr: '' });
});

test('a log that is not there is said in a line', async () => {
  const data = join(folder, 'nowhere');

  const { code, stdout, stderr } = await sluice('log', 'dump', '--data', data);

  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `sluice: cannot read the log of ${data}: there is no log in it; see --data\n`,
  );
});

test('what others wrote cannot speak to the terminal', async () => {
  const evil = 'x\u001b]0;title\u0007\u009b2J\ny';
  const { url } = await startServer();
  const api = new ApiClient(url, 'http1');
  const session = new SessionUnderTest(url, 'http1', { name: 'w', version: evil });
  const { sessionId } = await session.welcomed();
  const { body } = await api.post('/v1/tasks', { type: 'hello', input: evil });
  const { lease } = await session.takeTask();
  await api.report(sessionId, [
    { lease, kind: 'failed', error: { message: evil, code: evil }, retryable: false },
  ]);

  for (const args of [
    ['worker', 'list'],
    ['task', 'get', body.id],
    ['task', 'wait', body.id],
    ['task', 'list'],
    ['dead-letter', 'list'],
    ['top'],
  ]) {
    const { stdout, stderr } = await sluice(...args, '--url', url);
    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(stdout).not.toMatch(/^y/m);
    expect(stdout).toContain('x\\u001b]0;title\\u0007');
  }
  session.disconnect();
  api.close();
});
