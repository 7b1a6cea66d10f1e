/** `sluice workflow` and `sluice run`, as people type them. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sluice, type Workflow } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

let folder: string;
let flows: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  flows = join(folder, 'flows');
  await mkdir(join(flows, 'nested'), { recursive: true });
  server = await ServerProcess.startDev(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function sluice(...args: string[]): Promise<Ended> {
  const options = { env: { ...process.env, SLUICE_URL: server.url } };
  return new Promise((resolve) => {
    execFile(LAUNCHER, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

const YAML = `name: video
tasks:
  - { name: probe, taskReferenceName: probe, inputParameters: { url: '\${workflow.input.url}' } }
  - { taskReferenceName: fork, type: FORK_JOIN,
      forkTasks: [[{ name: cut, taskReferenceName: left }], [{ name: cut, taskReferenceName: right }]] }
  - { taskReferenceName: join, type: JOIN }
`;

/** Ends the oldest queued task of a type from outside. */
async function complete(type: string): Promise<void> {
  let id = '';
  const isThere = async (): Promise<boolean> => {
    const { body } = await api.get(`/v1/tasks?type=${type}&state=queued`);
    id = body.items.at(-1)?.id ?? '';
    return id !== '';
  };
  await waitUntil(isThere, { what: `a task of type ${type} is queued`, timeoutMs: 10_000 });
  await api.post(`/v1/tasks/${id}/complete`, { output: { type } });
}

test('files of all kinds are planned and applied, all of them or none', async () => {
  await writeFile(join(flows, 'video.yaml'), YAML);
  const module = `export const a = { name: 'typed', version: 2, tasks: [{ name: 'a', taskReferenceName: 'a' }] };
export const other: number = 3;\n`;
  await writeFile(join(flows, 'nested', 'typed.ts'), module);
  const bad = { name: 'bad', tasks: [{ name: 'a b', taskReferenceName: 'a' }, { type: 'WIAT' }] };
  await writeFile(join(flows, 'bad.json'), JSON.stringify(bad));

  const refused = await sluice('workflow', 'apply', flows);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^bad +1 +refused/m);
  expect(refused.stderr).toContain('/tasks/0/name');
  expect(refused.stderr).toContain('/tasks/1/taskReferenceName');
  expect(refused.stderr).toContain('nothing was registered');
  expect((await sluice('workflow', 'list')).stderr).toContain('no workflows');

  await rm(join(flows, 'bad.json'));
  const plan = await sluice('workflow', 'apply', flows, '--dry-run');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/^typed +2 +new/m)]);
  expect((await sluice('workflow', 'list')).stderr).toContain('no workflows');

  expect((await sluice('workflow', 'apply', flows)).stdout).toMatch(/^video +1 +new/m);
  expect((await sluice('workflow', 'apply', flows)).stdout).toMatch(/^video +1 +unchanged/m);
  expect((await sluice('workflow', 'list')).stdout).toMatch(/^typed +2 +1 +1 /m);
  const { stdout } = await sluice('workflow', 'get', 'video');
  expect(JSON.parse(stdout).tasks[0].taskReferenceName).toBe('probe');
});

test('a field without effect is a warning of apply', async () => {
  const path = join(folder, 'team.json');
  const task = { name: 'a', taskReferenceName: 'a' };
  await writeFile(path, JSON.stringify({ name: 'team', team: 'video', tasks: [task] }));

  const { code, stderr } = await sluice('workflow', 'apply', path);

  expect(code).toBe(0);
  expect(stderr).toContain('team.json: warning: /team "team" is no known field');
});

test('a module may export workflows of the SDK', async () => {
  const path = join(folder, 'sdk.ts');
  const sdk = join(import.meta.dirname, '../../packages/sdk/src/index.ts');
  const lines = [
    `import { defineWorkflow, inputOf } from ${JSON.stringify(sdk)};`,
    'const options = { version: 3, input: inputOf<{ url: string }>() };',
    "export const built = defineWorkflow('built', options, (w) => {",
    "  w.step('probe', 'probe', { url: w.input.url });",
    '});',
    "export default { definition: 'of something else' };",
  ];
  await writeFile(path, lines.join('\n'));

  const applied = await sluice('workflow', 'apply', path);

  expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^built +3 +new/m)]);
  expect((await sluice('workflow', 'apply', path)).stdout).toMatch(/^built +3 +unchanged/m);
  const { tasks } = JSON.parse((await sluice('workflow', 'get', 'built')).stdout);
  expect(tasks[0].inputParameters).toEqual({ url: '${workflow.input.url}' });
  // A program that has the same workflow starts it as it is registered.
  const client = new Sluice({ url: server.url });
  const { built } = (await import(path)) as { built: Workflow<{ url: string }> };
  const run = await client.start(built, { url: 'a' });
  expect((await run.cancel()).version).toBe(3);
  await client.close();
});

test('a workflow that cannot be built is refused with its place', async () => {
  const path = join(folder, 'twice.ts');
  const sdk = join(import.meta.dirname, '../../packages/sdk/src/index.ts');
  const lines = [
    `import { defineWorkflow } from ${JSON.stringify(sdk)};`,
    "export default defineWorkflow('twice', { version: 1 }, (w) => {",
    "  w.step('a', 'a', {});",
    "  w.step('a', 'a', {});",
    '});',
  ];
  await writeFile(path, lines.join('\n'));

  const applied = await sluice('workflow', 'apply', path);

  expect(applied.code).toBe(1);
  expect(applied.stderr).toContain("twice.ts: workflow 'twice': the name 'a' is used twice");
});

test('a run is started, drawn, waited for and listed', async () => {
  const started = await sluice('workflow', 'start', 'video', '-i', '{"url":"a"}', '--tag', 'a=b');
  const id = started.stdout.trim();
  await complete('probe');
  await complete('cut');

  const { stdout } = await sluice('run', 'get', id);
  expect(stdout).toMatch(/├─ ✓ probe {2}succeeded/);
  expect(stdout).toMatch(/│ {2}├─ branch 1\n│ {2}│ {2}└─ . left \(cut\)/);
  expect(stdout).toContain('└─ ○ join JOIN  pending');
  expect(stdout).toMatch(/waits for (?:left|right) \(task t_/);
  const waiting = sluice('run', 'wait', id);
  await complete('cut');
  const waited = await waiting;
  expect([waited.code, JSON.parse(waited.stdout)]).toEqual([
    0,
    { left: { type: 'cut' }, right: { type: 'cut' } },
  ]);
  const list = await sluice('run', 'list', '--tag', 'a=b', '--status', 'succeeded');
  expect(list.stdout).toMatch(new RegExp(`^${id} +video +1 +succeeded +5/5`, 'm'));
});

test('a run is paused, retried, run again from a step, restarted, and skipped', async () => {
  const ask = (name: string) => ({ taskReferenceName: name, type: 'HUMAN' });
  await api.put('/v1/workflows/review/versions/1', { tasks: [ask('first'), ask('second')] });
  const id = (await sluice('workflow', 'start', 'review')).stdout.trim();
  const status = async () => (await api.get(`/v1/runs/${id}`)).body.status;
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await sluice('run', ...args);
    expect([code, stderr], stdout).toEqual([0, '']);
    return stdout;
  };

  expect(await done('pause', id)).toContain(id);
  expect([await status(), (await sluice('run', 'get', id)).stdout]).toEqual([
    'paused',
    expect.stringContaining('paused'),
  ]);
  await done('resume', id);
  await done('fail', id, 'first', '--message', 'not good');
  expect(await status()).toBe('failed');
  await done('retry', id);
  expect(await status()).toBe('running');
  await done('skip', id, 'second');
  await done('complete', id, 'first');
  expect(await status()).toBe('succeeded');
  await done('rerun', id, 'second', '--input', '{"again":true}');
  const { body } = await api.get(`/v1/runs/${id}`);
  expect(body).toMatchObject({ status: 'running' });
  expect(body.steps[1]).toMatchObject({ state: 'running', input: { again: true } });
  await done('cancel', id);
  await done('restart', id);
  expect((await api.get(`/v1/runs/${id}`)).body.steps[0].state).toBe('running');
  await done('cancel', id);

  const refused = await sluice('run', 'pause', id);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('run_finished')]);
});

test('a changed file is applied until its version has runs, and then refused', async () => {
  const path = join(folder, 'changing.json');
  const write = (...names: string[]) => {
    const tasks = names.map((name) => ({ name, taskReferenceName: name }));
    return writeFile(path, JSON.stringify({ name: 'changing', tasks }));
  };
  await write('a');
  await sluice('workflow', 'apply', path);
  await write('a', 'b');

  const plan = await sluice('workflow', 'apply', path, '--dry-run');
  const applied = await sluice('workflow', 'apply', path);
  await sluice('workflow', 'start', 'changing');
  await write('a', 'b', 'c');
  const refused = await sluice('workflow', 'apply', path);

  expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/^changing +1 +changed/m)]);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/changed/)]);
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/^changing +1 +refused/m),
  ]);
  expect(refused.stderr).toContain('version_in_use');
});

test('a name that is nearly right gets a suggestion', async () => {
  const start = await sluice('workflow', 'start', 'vdeo');
  expect([start.code, start.stderr]).toEqual([
    1,
    expect.stringContaining("no workflow 'vdeo' (workflow_not_found); did you mean 'video'?"),
  ]);

  const id = (await sluice('workflow', 'start', 'video')).stdout.trim();
  for (const action of ['complete', 'fail']) {
    const near = await sluice('run', action, id, 'prob');
    expect(near.stderr).toContain("(step_not_found); did you mean 'probe'?");
  }
  const far = await sluice('run', 'complete', id, 'something-else');
  expect(far.stderr).toContain('steps of the run that can be ended: probe');
  await sluice('run', 'cancel', id);
});

test('a hint names only steps that a call can end', async () => {
  const ask = { taskReferenceName: 'ask', type: 'HUMAN' };
  const loop = { taskReferenceName: 'each', type: 'DO_WHILE', items: [1, 2], loopOver: [ask] };
  const later = { taskReferenceName: 'later', type: 'HUMAN' };
  await api.put('/v1/workflows/asking/versions/1', { tasks: [loop, later] });
  const id = (await sluice('workflow', 'start', 'asking')).stdout.trim();

  const far = await sluice('run', 'complete', id, 'something-else');
  expect(far.stderr).toContain(
    "no step 'something-else' (step_not_found); steps of the run that can be ended: ask__1\n",
  );
  const loopItself = await sluice('run', 'complete', id, 'each');
  expect(loopItself.stderr).toContain("step 'each' is a loop, which ends with its steps");
  const early = await sluice('run', 'complete', id, 'later');
  expect(early.stderr).toContain("step 'later' has not begun yet");
  const second = await sluice('run', 'complete', id, 'ask__2');
  expect(second.stderr).toContain("step 'ask__2' has not begun yet");
  await sluice('run', 'cancel', id);
});

test('a wait that is over before the run says so, and how to go on', async () => {
  const id = (await sluice('workflow', 'start', 'video')).stdout.trim();

  const waited = await sluice('run', 'wait', id, '--timeout', '1ms');

  expect([waited.code, waited.stdout]).toEqual([1, '']);
  expect(waited.stderr).toContain('the run has not ended yet; it is running');
  expect(waited.stderr).toContain(`'sluice run wait ${id}' waits on`);
  await sluice('run', 'cancel', id);
});

test('a run that is cancelled ends with exit code 1', async () => {
  const id = (await sluice('workflow', 'start', 'video')).stdout.trim();

  expect((await sluice('run', 'cancel', id)).stdout).toContain('cancelled');
  const waited = await sluice('run', 'wait', id);
  expect([waited.code, waited.stderr]).toEqual([1, expect.stringContaining('cancelled')]);
});

test('what does not exist is named', async () => {
  const answers = [
    await sluice('workflow', 'apply', join(folder, 'nowhere')),
    await sluice('workflow', 'start', 'nothing'),
    await sluice('run', 'get', 'r_01k7f6b1oj0000000001'),
    await sluice('workflow', 'start', 'video', '--version', '9'),
  ];

  expect(answers.map(({ code }) => code)).toEqual([2, 1, 1, 1]);
  expect(answers.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining("there is no file or folder '"),
    expect.stringContaining("no workflow 'nothing'"),
    expect.stringContaining('run_not_found'),
    expect.stringContaining('9'),
  ]);
});
