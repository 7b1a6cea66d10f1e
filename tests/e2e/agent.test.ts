/** Commands of tasks, run by an agent with real processes and real limits. */
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import type { ProcessGroup } from '../../packages/agent/src/host/cgroups.ts';
import { Sluice } from '../../packages/sdk/src/index.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, sha256Of } from './blob-client.ts';

const WAIT_MS = 60_000;

/** SLUICE_LONG asks for the long version of a test: 10,000 commands, and a gigabyte of output. */
const IS_LONG = process.env.SLUICE_LONG !== undefined;
const ROUNDS = IS_LONG ? 50 : 1;
/** On a busy machine an agent starts some 40 commands per second. */
const MANY_MS_MAX = IS_LONG ? 1_200_000 : 240_000;
const FLOOD = IS_LONG ? '1g' : '100m';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-agent-'));
  // The user of the commands passes through it.
  await chmod(folder, 0o711);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'work'),
    pidsMax: 50,
    handleSignals: false,
    onNotice: () => undefined,
  });
});

afterAll(async () => {
  await agent.stop(0);
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Runs a command to its end. The whole task is read again, because only then it has its usage. */
async function run(exec: object, more: object = {}) {
  const body = { exec, retry: { maxAttempts: 1 }, ...more };
  const { body: ended } = await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body);
  expect(ended.error?.code ?? '').not.toBe('invalid_request');
  return ended;
}

const shell = (script: string, more: object = {}, options: object = {}) =>
  run({ command: ['sh', '-c', script], ...more }, options);

async function linesOf({ id }: { id: string }): Promise<string[]> {
  const { body } = await api.get(`/v1/tasks/${id}/logs?limit=10000`);
  return body.items.map(({ line }: { line: string }) => line);
}

/** Folders of attempts. */
async function attemptsIn(workFolder: string): Promise<string[]> {
  return (await readdir(workFolder)).filter((name) => name.startsWith('t_'));
}

/** Whether a process with this in its arguments is there. */
async function isRunning(mark: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const titles = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
  );
  return titles.some((title) => title.includes(mark));
}

test('a command gets its arguments as they are, and its output is streamed and kept', async () => {
  const task = await run({ command: ['printf', '%s|', 'a b', '$(id)', '; echo no', '"'] });

  expect(task).toMatchObject({ state: 'succeeded', type: 'command', output: { exitCode: 0 } });
  expect(await linesOf(task)).toEqual(['a b|$(id)|; echo no|"|']);
});

test('it runs as another user, in its scratch folder, with a clean environment', async () => {
  const task = await shell('id -u; pwd; env | cut -d= -f1 | sort; cat "$SLUICE_INPUT"', {
    env: { EXTRA: 'x' },
  });

  const [uid, cwd, ...rest] = await linesOf(task);
  expect(uid).toBe('65534');
  expect(cwd).toContain(`${agent.workFolder}/${task.id}-1-`);
  expect(rest.filter((name) => !['OLDPWD', 'PWD'].includes(name))).toEqual([
    'EXTRA',
    'HOME',
    'LANG',
    'PATH',
    'SLUICE_ATTEMPT',
    'SLUICE_ATTEMPT_ID',
    'SLUICE_INPUT',
    'SLUICE_RESULT',
    'SLUICE_TASK_ID',
    'TMPDIR',
    'null',
  ]);
});

test('files go in as texts and blobs, outputs come back as blobs', async () => {
  const blobs = new BlobClient(server.url);
  const content = 'two\nlines';
  expect((await blobs.put(content)).status).toBe(200);
  const task = await shell(
    `cat "$SLUICE_INPUT" a.txt; mkdir out; cp b.bin out/c.bin; echo '{"n": 5}' > "$SLUICE_RESULT"`,
    {
      files: { 'a.txt': 'text', 'b.bin': { blob: sha256Of(content) } },
      outputs: { copy: 'out/c.bin' },
    },
    { input: { q: 1 } },
  );

  expect(task.output).toEqual({
    result: { n: 5 },
    outputs: { copy: { blob: sha256Of(content), bytes: 9 } },
  });
  expect(await linesOf(task)).toEqual(['{"q":1}text']);
});

test('an output that is missing, or a link out of the scratch folder, fails the task', async () => {
  const missing = await run({ command: ['true'], outputs: { a: 'a.txt' } });
  const link = await run({ command: ['ln', '-s', '/etc/passwd', 'a'], outputs: { a: 'a' } });

  expect(missing).toMatchObject({ state: 'failed', error: { code: 'output_missing' } });
  expect(link).toMatchObject({ state: 'failed', error: { code: 'output_outside' } });
});

test('a result that is a link out of its folder is not read', async () => {
  const task = await shell('ln -s /etc/shadow "$SLUICE_RESULT"');

  expect(task).toMatchObject({ state: 'failed', error: { code: 'output_outside' } });
  expect(task.error.message).not.toContain('root:');
});

test('output that is no text arrives as replacement characters', async () => {
  const task = await shell('printf "a\\377\\000b\\n"; head -c 20000 /dev/urandom; echo; echo last');

  const lines = await linesOf(task);
  expect(task.state).toBe('succeeded');
  expect(lines[0]).toBe('a\ufffd\0b');
  expect(lines.at(-1)).toBe('last');
});

test('a secret is in the environment, and in no answer and no line', async () => {
  const task = await shell('echo "has $TOKEN"; test "${#TOKEN}" = 14', {
    env: { TOKEN: { secret: 'hunter2-secret' } },
  });

  expect(task).toMatchObject({ state: 'succeeded', exec: { env: { TOKEN: { secret: '***' } } } });
  expect(await linesOf(task)).toEqual(['has ***']);
  const { body } = await api.get(`/v1/tasks/${task.id}`);
  expect(JSON.stringify(body)).not.toContain('hunter2');
});

test('an exit code fails the attempt, and only chosen codes are tried again', async () => {
  const retry = { maxAttempts: 2, delayMs: 1, jitter: false };
  const both = await shell('echo why >&2; exit 3', {}, { retry });
  const once = await shell('exit 4', { retryableExitCodes: [3] }, { retry });
  const missing = await run({ command: ['no-such-program'] }, { retry });

  expect(both).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'exit_3' } });
  expect(both.error.message).toBe("'sh' exited with 3: why");
  expect(once).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'exit_4' } });
  expect(missing).toMatchObject({ attempt: 1, error: { code: 'command_not_found' } });
});

test('memory beyond the limit ends the command, with its peak; use is recorded', async () => {
  // Tests run as root, where control groups can be made.
  expect(agent.groups.kind).toMatch(/^cgroup/);
  const task = await shell(
    'head -c 200m /dev/zero | tail > /dev/null',
    {},
    {
      resources: { memoryMb: 40 },
    },
  );

  expect(task).toMatchObject({ state: 'failed', error: { code: 'out_of_memory' } });
  const { body } = await api.get(`/v1/tasks/${task.id}`);
  const [{ usage }] = body.attempts;
  expect(usage.memoryPeakBytes).toBeGreaterThan(30 * 2 ** 20);
  expect(usage.memoryPeakBytes).toBeLessThanOrEqual(40 * 2 ** 20);
  expect(usage.cpuMs).toBeGreaterThan(0);
});

test('a fork bomb reaches its limit of processes and no more, and leaves nothing', async () => {
  // It waits without another process: none can be started any more.
  const script = 'mkfifo wait; bomb() { bomb | bomb & }; bomb 2>/dev/null; read -r line < wait';
  const { body: task } = await api.post('/v1/tasks', { exec: { command: ['sh', '-c', script] } });
  const counts: number[] = [];
  const isFull = async () => {
    const [name] = await agent.groups.names();
    if (name === undefined) return false;
    const group = agent.groups.open(name);
    counts.push((await group.pids()).length);
    return (await refusedProcesses(group)) > 0;
  };

  await waitUntil(isFull, { what: 'a process is refused', timeoutMs: WAIT_MS });
  await api.post(`/v1/tasks/${task.id}/cancel`, {});
  const { body: ended } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);

  expect(ended.state).toBe('cancelled');
  expect(Math.max(...counts)).toBeLessThanOrEqual(50);
  expect(await agent.groups.names()).toEqual([]);
  expect((await shell('echo still here')).state).toBe('succeeded');
});

/** How many processes the limit of the group has refused. */
async function refusedProcesses({ joinFiles }: ProcessGroup): Promise<number> {
  const folders = joinFiles.map((file) => dirname(file));
  const texts = await Promise.all(
    folders.map((path) => readFile(join(path, 'pids.events'), 'utf8').catch(() => '')),
  );
  const [, count] = /^max (\d+)$/m.exec(texts.join('\n')) ?? [];
  return Number(count ?? 0);
}

test('a scratch folder over its limit ends the command', async () => {
  const task = await shell(
    'head -c 30m /dev/zero > big; sleep 60',
    {},
    {
      resources: { diskMb: 10 },
    },
  );

  expect(task).toMatchObject({ state: 'failed', error: { code: 'out_of_disk' } });
});

test('a process that left its group and its terminal does not outlive the command', async () => {
  const task = await shell('setsid sh -c "sleep 987.5" >/dev/null 2>&1 & echo started');

  expect(task.state).toBe('succeeded');
  expect(await isRunning('987.5')).toBe(false);
});

test('a cancelled command that ignores SIGTERM is killed after its grace', async () => {
  const exec = { command: ['sh', '-c', 'trap "" TERM; echo up; sleep 976.5'], killGraceMs: 100 };
  const { body: task } = await api.post('/v1/tasks', { exec });
  await waitUntil(async () => (await linesOf(task)).includes('up'), {
    what: 'the command runs',
    timeoutMs: WAIT_MS,
  });

  await api.post(`/v1/tasks/${task.id}/cancel`, {});

  const { body: ended } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended.state).toBe('cancelled');
  await waitUntil(async () => !(await isRunning('976.5')), {
    what: 'the program is gone',
    timeoutMs: WAIT_MS,
  });
});

test('of a flood of output the end is kept', async () => {
  const task = await shell(
    `head -c ${FLOOD} /dev/zero | tr "\\0" "x" | fold -w 100; echo; echo the end`,
  );

  expect(task.state).toBe('succeeded');
  expect((await linesOf(task)).at(-1)).toBe('the end');
});

test('what an agent does not allow is refused with a reason', async () => {
  const root = await run({ command: ['true'], user: 'root' });
  const nobodyThere = await run({ command: ['true'], user: 'no-such-user' });

  expect(root).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'root_not_allowed' } });
  expect(nobodyThere).toMatchObject({ state: 'failed', error: { code: 'no_such_user' } });
});

test('steps of a workflow run commands, with values of earlier steps', async () => {
  const tasks = [
    {
      taskReferenceName: 'count',
      type: 'SIMPLE',
      exec: { command: ['sh', '-c', 'echo "{\\"n\\": $(wc -c < "$SLUICE_INPUT")}"'] },
      inputParameters: { text: '${workflow.input.text}' },
    },
    {
      taskReferenceName: 'say',
      type: 'SIMPLE',
      exec: {
        command: ['echo', 'has', '${count.output.n}'],
        env: { KEY: { secret: '${workflow.input.text}' } },
      },
    },
  ];
  const definition = { tasks, outputParameters: { n: '${count.output.n}' } };
  const put = await api.put('/v1/workflows/count-bytes/versions/1', definition);
  expect(put.status).toBe(201);
  const start = { workflow: 'count-bytes', input: { text: 'abc' } };
  const { body: run } = await api.post(`/v1/runs?waitMs=${WAIT_MS}`, start);

  expect(run).toMatchObject({ status: 'succeeded', output: { n: '{"text":"abc"}'.length } });
  const { body } = await api.get('/v1/tasks?type=command&limit=1');
  expect(await linesOf(body.items[0])).toEqual(['has 14']);
  const { body: steps } = await api.get(`/v1/runs/${run.id}/steps`);
  const said = steps.items.find(({ reference }: { reference: string }) => reference === 'say');
  expect(said.input.exec.env).toEqual({ KEY: { secret: '***' } });
});

test('a step without a command is refused when its workflow is registered', async () => {
  const step = { taskReferenceName: 'a', type: 'SIMPLE', exec: { programm: ['x'] } };
  const { status, body } = await api.put('/v1/workflows/odd/versions/1', { tasks: [step] });

  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('/tasks/0/exec/command');
});

test('the SDK submits commands and has their output', async () => {
  const sluice = new Sluice({ url: server.url });
  const told = await sluice.exec<{ q: number }>(['sh', '-c', 'cat "$SLUICE_INPUT"'], {
    input: { q: 7 },
    retry: { maxAttempts: 1 },
  });
  const failed = await sluice.exec({ command: ['false'] }, { retry: { maxAttempts: 1 } });

  expect(await told.result()).toEqual({ q: 7 });
  await expect(failed.result()).rejects.toThrow("'false' exited with 1");
  await sluice.close();
});

test(
  'many short commands leave no folder, no group and no descriptor behind',
  async () => {
    const before = (await readdir('/proc/self/fd')).length;
    const bodies = Array(200).fill({ exec: { command: ['true'] } });
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { body } = await api.post('/v1/tasks', bodies);
      ids.push(...body.items.map(({ id }: { id: string }) => id));
    }
    for (const id of ids) await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);

    const last = ids.slice(-1000);
    const { body: found } = await api.post('/v1/tasks/get', { ids: last });
    expect(found.items.filter(({ state }: { state: string }) => state !== 'succeeded')).toEqual([]);
    await waitUntil(async () => (await attemptsIn(agent.workFolder)).length === 0, {
      what: 'no attempt is left in the folder',
      timeoutMs: WAIT_MS,
    });
    expect(await agent.groups.names()).toEqual([]);
    await waitUntil(async () => (await readdir('/proc/self/fd')).length <= before + 5, {
      what: 'descriptors are closed',
      timeoutMs: WAIT_MS,
    });
  },
  MANY_MS_MAX,
);

test('a second agent with the same folder is refused', async () => {
  const second = Agent.start({ url: server.url, workFolder: join(folder, 'work') });

  await expect(second).rejects.toThrow(`the agent with pid ${process.pid} uses`);
});

test.each([
  [{ exec: { command: [] } }, '/exec/command'],
  [{ exec: { command: ['a\0b'] } }, '/exec/command/0'],
  [{ exec: { command: ['a'], env: { 'A=B': 'x' } } }, '/exec/env/A=B'],
  [{ exec: { command: ['a'], files: { '../a': 'x' } } }, '/exec/files/..~1a'],
  [{ exec: { command: ['a'], outputs: { a: '../../etc/passwd' } } }, '/exec/outputs/a'],
  [{ exec: { command: ['a'], outputs: { a: '/etc/passwd' } } }, '/exec/outputs/a'],
  [{ exec: { command: ['a'], shell: true } }, '/exec/shell'],
  [{ exec: { command: 'a' } }, '/exec/command'],
  [{ type: 'a', exec: { command: ['a'] } }, '/type'],
  [{ type: 'command' }, '/type'],
  [{ type: 'container' }, '/type'],
  [{ exec: { image: '' } }, '/exec/image'],
  [{ exec: { image: 'a b' } }, '/exec/image'],
  [{ exec: { image: 'a', command: ['b'] } }, '/exec/image'],
  [{ exec: { image: 'a', pull: 'sometimes' } }, '/exec/pull'],
  [{ exec: { image: 'a', volumes: [{ source: '../x', target: '/y' }] } }, '/exec/volumes/0/source'],
  [{ exec: { image: 'a', volumes: [{ source: '/x', target: 'y' }] } }, '/exec/volumes/0/target'],
  [{ exec: { image: 'a', registryAuth: {} } }, '/exec/registryAuth'],
  [{ type: 'command', exec: { image: 'a' } }, '/type'],
])('%j is refused at %s', async (body, path) => {
  const { status, body: answer } = await api.post('/v1/tasks', body);

  expect(status).toBe(400);
  expect(answer.error.details.map((each: { path: string }) => each.path)).toContain(path);
});
