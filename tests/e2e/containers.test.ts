/** Containers of tasks, run by an agent on a real Docker engine. */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { ImageStore } from '../../packages/agent/src/containers/image-store.ts';
import { ContainerEngine } from '../../packages/agent/src/engine/container-engine.ts';
import { AgentUnderTest } from '../support/agent-process.ts';
import { packBusybox } from '../support/container-image.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { engineTest as test } from '../support/engine-tests.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, sha256Of } from './blob-client.ts';

const WAIT_MS = 60_000;
const IMAGE = 'busybox:test';

let folder: string;
let engine: DockerEngine;
let registry: ImageRegistry;
let closedRegistry: ImageRegistry;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-containers-'));
  await chmod(folder, 0o711);
  engine = await DockerEngine.start(join(folder, 'engine'));
  const archive = await packBusybox(folder);
  await engine.run('import', archive, IMAGE);
  registry = await ImageRegistry.start(archive);
  closedRegistry = await ImageRegistry.start(archive, { user: 'ada', password: 'pull-secret' });
  await mkdir(join(folder, 'media'));
  await writeFile(join(folder, 'media/clip'), 'from the host');
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'work'),
    commands: false,
    containers: { socket: engine.socket, network: 'none', mounts: [join(folder, 'media')] },
    pidsMax: 50,
    handleSignals: false,
    onNotice: () => undefined,
  });
});

afterAll(async () => {
  await agent?.stop(0);
  api?.close();
  await server?.kill();
  await registry?.stop();
  await closedRegistry?.stop();
  await engine?.stop();
  await rm(folder, { recursive: true });
});

/** Runs a container to its end. */
async function run(exec: object, more: object = {}) {
  const body = { exec: { image: IMAGE, ...exec }, retry: { maxAttempts: 1 }, ...more };
  const { body: ended } = await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body);
  expect(ended.error?.code ?? '').not.toBe('invalid_request');
  return ended;
}

const shell = (script: string, more: object = {}, options: object = {}) =>
  run({ args: ['sh', '-c', script], ...more }, options);

async function linesOf({ id }: { id: string }): Promise<string[]> {
  const { body } = await api.get(`/v1/tasks/${id}/logs?limit=10000`);
  return body.items.map(({ line }: { line: string }) => line);
}

test('a container runs with its arguments, variables and input', async () => {
  const script = 'printf "%s|" "$1" "$A" "$(cat "$SLUICE_INPUT")"; pwd; cat';
  const task = await run(
    { args: ['sh', '-c', script, '-', '$(id)'], env: { A: 'b c' }, stdin: 'piped' },
    { input: { q: 1 } },
  );

  expect(task).toMatchObject({ state: 'succeeded', type: 'container', output: { exitCode: 0 } });
  expect(await linesOf(task)).toEqual(['$(id)|b c|{"q":1}|/sluice/work', 'piped']);
});

test('files go in, outputs come back, and the result is the output', async () => {
  const blobs = new BlobClient(server.url);
  await blobs.put('blob content');
  const task = await shell(
    'cat a.txt b.bin; id -u; mkdir out; cp b.bin out/c; echo "{\\"n\\": 5}" > "$SLUICE_RESULT"',
    {
      user: 'media',
      files: { 'a.txt': 'text ', 'b.bin': { blob: sha256Of('blob content') } },
      outputs: { copy: 'out/c' },
    },
  );

  expect(task.output).toEqual({
    result: { n: 5 },
    outputs: { copy: { blob: sha256Of('blob content'), bytes: 12 } },
  });
  expect(await linesOf(task)).toEqual(['text blob content7']);
});

test('lines of both streams come in their order', async () => {
  const script = 'for i in 1 2 3; do echo out $i; sleep 0.1; echo err $i >&2; sleep 0.1; done';
  const task = await shell(script);

  expect(await linesOf(task)).toEqual(['out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3']);
});

test('an exit code fails the attempt, a missing program is not tried again', async () => {
  const retry = { maxAttempts: 2, delayMs: 1, jitter: false };
  const both = await shell('echo why >&2; exit 3', {}, { retry });
  const missing = await run({ args: ['no-such-program'] }, { retry });

  expect(both).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'exit_3' } });
  expect(both.error.message).toBe(`'${IMAGE}' exited with 3: why`);
  expect(missing).toMatchObject({ attempt: 1, error: { code: 'command_not_found' } });
});

test('memory beyond the limit ends the container, and what it used is recorded', async () => {
  const task = await shell(
    'head -c 200m /dev/zero | tail > /dev/null',
    {},
    { resources: { cpu: 0.5, memoryMb: 40 } },
  );

  expect(task).toMatchObject({ state: 'failed', error: { code: 'out_of_memory' } });
  const { body } = await api.get(`/v1/tasks/${task.id}`);
  const [{ usage }] = body.attempts;
  expect(usage.memoryPeakBytes).toBeGreaterThan(30 * 2 ** 20);
  expect(usage.memoryPeakBytes).toBeLessThanOrEqual(42 * 2 ** 20);
  expect(usage.cpuMs).toBeGreaterThan(0);
  expect(usage.wallMs).toBeGreaterThan(0);
});

test('a container stays within its processes and its disk', async () => {
  const bomb = await shell('bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 1; exit 9');
  const disk = await shell(
    'dd if=/dev/zero of=/tmp/big bs=1M count=40; sleep 60',
    {},
    {
      resources: { diskMb: 10 },
    },
  );

  expect(['failed', 'succeeded']).toContain(bomb.state);
  expect(disk).toMatchObject({ state: 'failed', error: { code: 'out_of_disk' } });
});

test('a cancelled container that ignores SIGTERM is killed after its grace', async () => {
  const exec = { image: IMAGE, args: ['sh', '-c', 'trap "" TERM; echo up; sleep 976'] };
  const { body: task } = await api.post('/v1/tasks', { exec: { ...exec, killGraceMs: 100 } });
  await waitUntil(async () => (await linesOf(task)).includes('up'), {
    what: 'the container runs',
    timeoutMs: WAIT_MS,
  });

  await api.post(`/v1/tasks/${task.id}/cancel`, {});

  const { body: ended } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended.state).toBe('cancelled');
  await nothingLeft();
});

test('a secret and the credentials of a registry are in no answer and no line', async () => {
  const task = await shell('echo "has $TOKEN and $PASS"', {
    image: `${closedRegistry.address}/app:1`,
    env: { TOKEN: { secret: 'hunter2-secret' }, PASS: 'pull-secret' },
    registryAuth: { username: 'ada', password: 'pull-secret' },
  });

  expect(task).toMatchObject({ state: 'succeeded', error: null });
  expect(await linesOf(task)).toEqual(['has *** and ***']);
  const { body } = await api.get(`/v1/tasks/${task.id}`);
  expect(body.exec.registryAuth).toEqual({ secret: '***' });
  expect(JSON.stringify(body.exec.env)).not.toContain('hunter2');
});

test('an image is pulled, and a missing one is not tried again', async () => {
  const retry = { maxAttempts: 2, delayMs: 1, jitter: false };
  const pulled = await shell('echo pulled', { image: `${registry.address}/open:1` });
  const missing = await run({ image: `${registry.address}/open:2` }, { retry });
  const denied = await run({ image: `${closedRegistry.address}/other:1` }, { retry });
  const never = await run({ image: 'nowhere:1', pull: 'never' }, { retry });

  expect(pulled).toMatchObject({ state: 'succeeded' });
  expect(missing).toMatchObject({ attempt: 1, error: { code: 'image_not_found' } });
  expect(denied).toMatchObject({ attempt: 1, error: { code: 'registry_auth_failed' } });
  expect(never).toMatchObject({ attempt: 1, error: { code: 'image_not_found' } });
  const kept = await engine.run('images', '--quiet', `${registry.address}/open`);
  expect(kept).not.toBe('');
});

test('what the agent does not allow is refused, and what it allows is there', async () => {
  const mount = join(folder, 'media');
  const target = '/media';
  const allowed = await shell('cat /media/clip', {
    volumes: [{ source: mount, target, readOnly: true }],
  });
  const refused = await Promise.all([
    run({ privileged: true }),
    run({ network: 'host' }),
    run({ volumes: [{ source: '/etc', target }] }),
    run({ devices: ['/dev/kmsg'] }),
  ]);

  expect(await linesOf(allowed)).toEqual(['from the host']);
  expect(refused.map(({ error }) => error.code)).toEqual(Array(4).fill('container_not_allowed'));
});

test('/dev/shm is as large as it was asked for, and what does not fit fails', async () => {
  const script = [
    "df -k /dev/shm | awk 'END { print $2 }'",
    'head -c 8m /dev/zero > /dev/shm/all && echo fits; rm /dev/shm/all',
    'head -c 9m /dev/zero > /dev/shm/more 2>/dev/null || echo "does not fit"',
  ].join('\n');
  const small = await shell(script, { shmMb: 8 });
  const large = await shell(script, { shmMb: 16 });

  expect(await linesOf(small)).toEqual(['8192', 'fits', 'does not fit']);
  expect(await linesOf(large)).toEqual(['16384', 'fits']);
});

test('the files of a container can be read-only, without a network', async () => {
  const task = await shell('touch /x 2>/dev/null || echo read-only; ls /sys/class/net', {
    readOnly: true,
  });

  expect(await linesOf(task)).toEqual(['read-only', 'lo']);
});

test('steps of a workflow run containers', async () => {
  const exec = { image: IMAGE, args: ['echo', '{"n": ${workflow.input.n}}'] };
  const tasks = [{ taskReferenceName: 'say', type: 'SIMPLE', exec }];
  const definition = { tasks, outputParameters: { n: '${say.output.n}' } };
  const put = await api.put('/v1/workflows/in-a-box/versions/1', definition);
  expect(put.status).toBe(201);
  const start = { workflow: 'in-a-box', input: { n: 7 } };
  const { body } = await api.post(`/v1/runs?waitMs=${WAIT_MS}`, start);

  expect(body).toMatchObject({ status: 'succeeded', output: { n: 7 } });
});

test('many short containers leave no container, folder or group behind', async () => {
  const bodies = Array(20).fill({ exec: { image: IMAGE, args: ['true'] } });
  const { body } = await api.post('/v1/tasks', bodies);
  const ids = body.items.map(({ id }: { id: string }) => id);
  for (const id of ids) await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`);

  const { body: found } = await api.post('/v1/tasks/get', { ids });
  expect(found.items.filter(({ state }: { state: string }) => state !== 'succeeded')).toEqual([]);
  await nothingLeft();
});

test('an agent that was killed goes on with its containers, and ends those of others', async () => {
  const settings = {
    url: server.url,
    workFolder: join(folder, 'killed-work'),
    flags: [
      ...['--allow-containers', '--network', 'none', '--label', 'box=killed'],
      ...['--engine-socket', engine.socket],
    ],
  };
  const started = await AgentUnderTest.start(settings);
  const script = 'echo up; while [ ! -e go ]; do sleep 0.05; done; echo "{\\"ok\\": 1}"';
  const waiting = {
    exec: { image: IMAGE, args: ['sh', '-c', script] },
    retry: { maxAttempts: 1 },
    constraints: ['box == killed'],
  };
  const { body: kept } = await api.post('/v1/tasks', waiting);
  const { body: lost } = await api.post('/v1/tasks', waiting);
  await waitUntil(async () => [...(await linesOf(kept)), ...(await linesOf(lost))].length === 2, {
    what: 'both run',
    timeoutMs: WAIT_MS,
  });

  await started.kill();
  await api.post(`/v1/tasks/${lost.id}/cancel`, { graceMs: 0 });
  const [scratch = ''] = (await readdir(settings.workFolder)).filter((name) => {
    return name.startsWith(kept.id);
  });
  await writeFile(join(settings.workFolder, scratch, 'work/go'), '');
  const again = await AgentUnderTest.start(settings);

  const { body: ended } = await api.get(`/v1/tasks/${kept.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, output: { ok: 1 } });
  expect(await linesOf(kept)).toContain('{"ok": 1}');
  await nothingLeft();
  await again.stop();
});

test('sluice exec --image prints the output of a container and exits with its code', async () => {
  const args = ['exec', '--url', server.url, '--image', IMAGE, '--', 'sh', '-c', 'echo in; exit 7'];

  const { code, stdout } = await runSluice(args);

  expect({ code, stdout }).toEqual({ code: 7, stdout: 'in\n' });
});

test('an engine that is gone takes containers out of the offer, and says so', async () => {
  await engine.kill();
  await waitUntil(() => agent.containers?.problem !== undefined, {
    what: 'the agent knows',
    timeoutMs: WAIT_MS,
  });
  const { body } = await api.post('/v1/tasks', { exec: { image: IMAGE, args: ['true'] } });
  await waitUntil(async () => (await reasonsOf(body)).includes('does not answer'), {
    what: 'explain says so',
    timeoutMs: WAIT_MS,
  });
  const { body: workers } = await api.get('/v1/workers');
  expect(JSON.stringify(workers.items[0].types)).toContain('does not answer');

  await engine.startAgain();

  const { body: ended } = await api.get(`/v1/tasks/${body.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1 });
});

test('a container whose engine crashes goes on, or is tried again if it ended', async () => {
  const script = '[ $SLUICE_ATTEMPT = 2 ] || { echo up; while [ ! -e go ]; do sleep 0.1; done; }';
  const exec = { image: IMAGE, args: ['sh', '-c', script] };
  const retry = { maxAttempts: 2, delayMs: 1 };
  const { body: task } = await api.post('/v1/tasks', { exec, retry });
  await waitUntil(async () => (await linesOf(task)).includes('up'), {
    what: 'the container runs',
    timeoutMs: WAIT_MS,
  });

  await engine.kill();
  await engine.startAgain();
  // Whether an engine keeps its containers through a crash is up to the engine.
  const names = (await readdir(agent.workFolder)).filter((name) => name.startsWith(task.id));
  for (const name of names) {
    await writeFile(join(agent.workFolder, name, 'work/go'), '').catch(() => undefined);
  }

  const { body: ended } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended.state).toBe('succeeded');
  const { body } = await api.get(`/v1/tasks/${task.id}`);
  const failures = body.attempts.slice(0, -1);
  expect(failures.map(({ error }: { error: { code: string } }) => error.code)).toEqual(
    ended.attempt === 1 ? [] : ['engine_unavailable'],
  );
  await nothingLeft();
});

test('images that the agent pulled are removed when nobody uses them, others stay', async () => {
  const image = `${registry.address}/collected:1`;
  await shell('true', { image });
  await nothingLeft();
  const own = new ContainerEngine(engine.socket);
  await own.connect();
  const images = await ImageStore.open(own, agent.workFolder);

  await images.collect(WAIT_MS, false);
  const kept = await own.image(image);
  await images.collect(-1, false);

  expect(kept).toBeDefined();
  expect([await own.image(image), await own.image(IMAGE)]).toEqual([undefined, expect.anything()]);
  own.close();
});

async function reasonsOf({ id }: { id: string }): Promise<string> {
  const { body } = await api.get(`/v1/tasks/${id}/explain`);
  return JSON.stringify(body.reasons);
}

async function nothingLeft(): Promise<void> {
  await waitUntil(async () => (await engine.run('ps', '--all', '--quiet')) === '', {
    what: 'no container is left',
    timeoutMs: WAIT_MS,
  });
  await waitUntil(
    async () => (await readdir(agent.workFolder)).every((name) => !name.startsWith('t_')),
    { what: 'no folder is left', timeoutMs: WAIT_MS },
  );
  const hash = createHash('sha256').update(agent.workFolder).digest('hex').slice(0, 12);
  for (const root of ['/sys/fs/cgroup', '/sys/fs/cgroup/pids']) {
    const group = join(root, `sluice-${hash}.containers`);
    const left = await readdir(group, { withFileTypes: true }).catch(() => []);
    expect(left.filter((entry) => entry.isDirectory())).toEqual([]);
  }
}
