/** `sluice agent` and `sluice exec`, as people type them. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'packages/cli/bin/sluice');
const WAIT_MS = 60_000;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let agent: ChildProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await chmod(folder, 0o711);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await startAgent();
});

afterAll(async () => {
  await endOf(agent, 'SIGTERM');
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

function environment() {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
  return { ...process.env, PATH: path, SLUICE_URL: server.url };
}

async function startAgent(): Promise<ChildProcess> {
  const args = ['agent', '--allow-commands', '--name', 'here', '--label', 'rack=r7'];
  const started = spawn(LAUNCHER, [...args, '--work-dir', join(folder, 'work')], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (bytes) => {
      said += String(bytes);
    });
  }
  await waitUntil(() => said.includes('agent ready: offers '), {
    what: `the agent is ready: ${said}`,
    timeoutMs: WAIT_MS,
  });
  return started;
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** `input` is piped into the command; without it stdin is empty. */
function started(file: string, args: readonly string[], input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { env: environment() }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

const exec = (...args: string[]) => started(LAUNCHER, ['exec', ...args]);

test('exec prints the output and exits with the code of its program', async () => {
  // On a slow machine stderr says where it runs.
  expect(await exec('--', 'echo', 'a  b')).toMatchObject({ code: 0, stdout: 'a  b\n' });
  expect(await exec('--', 'sh', '-c', 'echo no >&2; exit 7')).toMatchObject({ code: 7 });
  const missing = await exec('--', 'no-such-program');
  expect(missing).toMatchObject({ code: 127 });
  expect(missing.stderr).toContain("'no-such-program' was not found");
});

test('what is piped into exec is the standard input of its program', async () => {
  const sorted = await started(LAUNCHER, ['exec', '--', 'sort'], 'b\na\n');

  expect(sorted).toMatchObject({ code: 0, stdout: 'a\nb\n' });
});

test('variables, resources and labels reach the task', async () => {
  const flags = ['--cpu', '0.5', '--memory', '100m', '--env', 'A=b c', '--label', 'rack=r7'];
  const { stdout } = await exec('--json', ...flags, '--', 'sh', '-c', 'echo "$A"');

  expect(JSON.parse(stdout)).toMatchObject({
    state: 'succeeded',
    resources: { cpu: 0.5, memoryMb: 100, slots: 1 },
    constraints: ['rack == r7'],
    exec: { env: { A: 'b c' } },
    attempts: [{ worker: 'here' }],
  });
});

test('a command that no agent may run says why it waits, and Ctrl-C cancels it', async () => {
  const child = spawn(LAUNCHER, ['exec', '--label', 'rack=none', '--', 'true'], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes) => {
    said += String(bytes);
  });
  await waitUntil(() => said.includes('waits: '), { what: 'it says why', timeoutMs: WAIT_MS });
  const code = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');

  expect(await code).toBe(130);
  expect(said).toContain('rack');
  expect(said).toContain('the command is cancelled');
});

test('task get shows the command and what it used', async () => {
  const { stdout: id } = await exec('--detach', '--memory', '64m', '--', 'echo', 'it is');
  await api.get(`/v1/tasks/${id.trim()}/wait?timeoutMs=${WAIT_MS}`);

  const { stdout } = await started(LAUNCHER, ['task', 'get', id.trim()]);

  expect(stdout).toMatch(/^command +echo 'it is'$/m);
  expect(stdout).toMatch(/^used +[\d.]+ s in all, [\d.]+ s of CPU .* of 64 MiB of memory/m);
});

test('every line of the page can be typed', async () => {
  const page = await readFile(join(ROOT, 'docs/agent.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const [, lines, many, curl] = blocks;

  const typed = await started('bash', ['-ec', lines ?? 'false']);
  const array = await started('bash', ['-ec', many ?? 'false']);
  const sent = await started('bash', [
    '-ec',
    (curl ?? 'false').replace('http://127.0.0.1:7420', server.url),
  ]);

  expect(typed).toMatchObject({ code: 0, stdout: 'Linux\nI may use one core\na\nb\n' });
  expect(array.stdout).toContain('frame 20\n');
  expect(array.stdout).toMatch(/^sh +\d+ /m);
  const { id } = JSON.parse(sent.stdout);
  const { body } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);
  expect(body).toMatchObject({ state: 'succeeded' });
});

test('a command goes on while its server is killed and restarted, and reports then', async () => {
  const script = 'echo up $$; while [ ! -e go ]; do sleep 0.1; done; echo "{\\"ok\\": 1}"';
  const { body } = await api.post('/v1/tasks', {
    exec: { command: ['sh', '-c', script] },
    retry: { maxAttempts: 1 },
  });
  const [scratch = ''] = await waitFor(async () => {
    const lines = await linesOf(body.id);
    const attempts = (await readdir(join(folder, 'work'))).filter((name) => name.startsWith('t_'));
    return lines.length > 0 ? attempts : [];
  });

  await server.kill();
  await writeFile(join(folder, 'work', scratch, 'work', 'go'), '');
  const { port } = new URL(server.url);
  server = await ServerProcess.startDev(join(folder, 'data'), undefined, port);

  const { body: ended } = await api.get(`/v1/tasks/${body.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, output: { ok: 1 } });
});

/** A command that says that it runs, and ends when there is a file `go` in its folder. */
async function startWaiting(mark: string): Promise<{ id: string; scratch: string }> {
  const script = `echo up; while [ ! -e go ]; do sleep 0.${mark}; done; echo '{"ok": 1}'`;
  const { body } = await api.post('/v1/tasks', {
    exec: { command: ['sh', '-c', script], env: { TOKEN: { secret: 'hunter2-secret' } } },
    retry: { maxAttempts: 1 },
  });
  const [scratch = ''] = await waitFor(async () => {
    const lines = await linesOf(body.id);
    return lines.length > 0 ? attempts() : [];
  });
  return { id: body.id, scratch };
}

async function attempts(): Promise<string[]> {
  return (await readdir(join(folder, 'work'))).filter((name) => name.startsWith('t_'));
}

test('an agent that was killed goes on with its commands, and reports their ends', async () => {
  const { id, scratch } = await startWaiting('1965');

  await endOf(agent, 'SIGKILL');
  agent = await startAgent();
  await writeFile(join(folder, 'work', scratch, 'work', 'go'), '');

  const { body: ended } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, output: { ok: 1 } });
  expect(await linesOf(id)).toEqual(['up', '{"ok": 1}']);
  await waitUntil(async () => (await attempts()).length === 0, {
    what: 'no attempt is left',
    timeoutMs: WAIT_MS,
  });
});

test('a command that ended while no agent was there is reported by the next one', async () => {
  const { id, scratch } = await startWaiting('1966');

  await endOf(agent, 'SIGKILL');
  await writeFile(join(folder, 'work', scratch, 'work', 'go'), '');
  await waitFor(async () => {
    const control = await readdir(join(folder, 'work', scratch, 'control'));
    return control.filter((name) => name === 'exit');
  });
  agent = await startAgent();

  const { body: ended } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, output: { ok: 1 } });
});

test('an end that no server has answered yet is reported by the next agent', async () => {
  const { id, scratch } = await startWaiting('1968');

  await server.kill();
  await writeFile(join(folder, 'work', scratch, 'work', 'go'), '');
  await waitFor(async () => {
    const path = join(folder, 'work', scratch, 'control/outcome.json');
    const text = await readFile(path, 'utf8').catch(() => '');
    return text.endsWith('\n') ? [text] : [];
  });
  await endOf(agent, 'SIGKILL');
  const { port } = new URL(server.url);
  server = await ServerProcess.startDev(join(folder, 'data'), undefined, port);
  agent = await startAgent();

  const { body: ended } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, output: { ok: 1 } });
});

test('a command whose lease is gone is ended by the agent that comes back', async () => {
  const { id } = await startWaiting('1967');

  await endOf(agent, 'SIGKILL');
  await api.post(`/v1/tasks/${id}/cancel`, { graceMs: 0 });
  const { body: ended } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended.state).toBe('cancelled');
  expect(await isRunning('0.1967')).toBe(true);
  agent = await startAgent();

  await waitUntil(async () => !(await isRunning('0.1967')), {
    what: 'the command is ended',
    timeoutMs: WAIT_MS,
  });
  await waitUntil(async () => (await attempts()).length === 0, {
    what: 'no attempt is left',
    timeoutMs: WAIT_MS,
  });
});

test('an agent does not start without leave, or with a bad amount', async () => {
  const silent = await started(LAUNCHER, ['agent']);
  const odd = await started(LAUNCHER, ['agent', '--allow-commands', '--reserve-memory', 'much']);

  expect(silent).toMatchObject({ code: 2 });
  expect(silent.stderr).toContain('start it with --allow-commands, --allow-containers or both');
  expect(odd).toMatchObject({ code: 2 });
  expect(odd.stderr).toContain("--reserve-memory must be a size such as 512m or 4g, not 'much'");
});

async function linesOf(id: string): Promise<string[]> {
  const { items } = (await api.get(`/v1/tasks/${id}/logs`)).body;
  return items.map(({ line }: { line: string }) => line);
}

/** Looks until there is something. */
async function waitFor(look: () => Promise<string[]>): Promise<string[]> {
  let seen: string[] = [];
  const hasSome = async () => {
    seen = await look();
    return seen.length > 0;
  };
  await waitUntil(hasSome, { what: 'there is something', timeoutMs: WAIT_MS });
  return seen;
}

async function isRunning(mark: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const titles = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
  );
  return titles.some((title) => title.includes(mark));
}
