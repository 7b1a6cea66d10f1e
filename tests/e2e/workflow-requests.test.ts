import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { simple, VIDEO } from './video-workflow.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function register(name: string, version = 1): Promise<void> {
  const { status, body } = await api.put(`/v1/workflows/${name}/versions/${version}`, VIDEO);
  expect(status, JSON.stringify(body)).toBe(201);
}

describe('registering', () => {
  test('a version can be read, listed, repeated and deleted', async () => {
    await register('read', 1);
    await register('read', 2);

    expect((await api.put('/v1/workflows/read/versions/2', VIDEO)).status).toBe(200);
    const { body } = await api.get('/v1/workflows/read/versions/2');
    expect(body).toMatchObject({ name: 'read', version: 2, steps: 8, definition: VIDEO });
    expect((await api.get('/v1/workflows/read')).body).toMatchObject({
      name: 'read',
      versions: [{ version: 2, hash: body.hash }, { version: 1 }],
    });
    const { items } = (await api.get('/v1/workflows?limit=1000')).body;
    expect(items.map(({ name }: { name: string }) => name)).toContain('read');
    expect((await api.delete('/v1/workflows/read/versions/2')).status).toBe(204);
    expect(await api.get('/v1/workflows/read/versions/2')).toMatchObject({
      status: 404,
      body: { error: { code: 'workflow_not_found' } },
    });
  });

  test('a misspelled field is refused, and another unknown one is a warning', async () => {
    const path = '/v1/workflows/misspelled/versions/1';
    const task = { ...simple('probe', 'one'), inputParamters: {} };

    expect((await api.put(path, { tasks: [task] })).body.error.details).toEqual([
      {
        path: '/tasks/0/inputParamters',
        problem: '"inputParamters" is no field of it; did you mean "inputParameters"?',
        code: 'unknown_field',
      },
    ]);
    const team = { ...simple('probe', 'one'), team: 'video' };
    for (const query of ['?dryRun=true', '']) {
      const { body } = await api.put(path + query, { tasks: [team] });
      expect(body.warnings).toEqual([
        { path: '/tasks/0/team', message: '"team" is no known field and has no effect' },
      ]);
    }
  });

  test('every problem is named at once, with its place and its kind', async () => {
    const definition = {
      tasks: [
        { ...simple('probe', 'one'), retry: { maxAttempts: 0 }, taskDefinition: { tags: [] } },
        { ...simple('probe', 'one'), constraints: ['zone =='] },
        { taskReferenceName: 'two', type: 'FORK_JION' },
        simple('probe', 'three', { from: '${nobody.output}' }),
      ],
    };

    const { status, body } = await api.put('/v1/workflows/bad/versions/1', definition);

    expect([status, body.error.code]).toEqual([400, 'invalid_definition']);
    const found = body.error.details.map(({ path, code }: never) => `${code} ${path}`);
    expect(found).toEqual([
      'bad_field /tasks/0/retry/maxAttempts',
      'bad_field /tasks/0/taskDefinition/tags',
      'bad_field /tasks/1/constraints/0',
      'duplicate_reference /tasks/1/taskReferenceName',
      'unknown_type /tasks/2/type',
      'unknown_reference /tasks/3/inputParameters/from',
    ]);
    expect(body.error.details[4].problem).toMatch(
      /^"FORK_JION" is no type; use one of .*; did you mean "FORK_JOIN"\?$/,
    );
  });

  test.each([
    ['no object', 7, 400],
    ['nothing', null, 400],
    ['too large', { tasks: [simple('probe', 'a', { text: 'x'.repeat(2 ** 20) })] }, 413],
    ['too deep', JSON.parse(`{"tasks":${'['.repeat(1000)}${']'.repeat(1000)}}`), 400],
  ])('a definition that is %s is refused', async (_, definition, status) => {
    expect((await api.put('/v1/workflows/bad/versions/1', definition)).status).toBe(status);
  });

  test.each(['0', '-1', '1.5', 'x', '99999999999'])('version %s is refused', async (version) => {
    const { status, body } = await api.put(`/v1/workflows/a/versions/${version}`, VIDEO);
    expect([status, body.error.details[0].path]).toEqual([400, '/version']);
  });

  test('a version that had a run never changes', async () => {
    await register('used');
    expect((await api.post('/v1/runs', { workflow: 'used' })).status).toBe(201);
    const other = { tasks: [simple('probe', 'probe')] };

    const { status, body } = await api.put('/v1/workflows/used/versions/1', other);

    expect([status, body.error.code]).toEqual([409, 'version_in_use']);
    expect((await api.put('/v1/workflows/used/versions/1', VIDEO)).status).toBe(200);
  });
});

describe('starting', () => {
  beforeAll(async () => register('video'));

  test('the same key and input is the same run; another input is refused', async () => {
    const request = { workflow: 'video', dedupeKey: 'k', input: 1 };
    const first = await api.post('/v1/runs', request);
    const second = await api.post('/v1/runs', request);
    const other = await api.post('/v1/runs', { ...request, input: 2 });
    const task = await api.post('/v1/tasks', { type: 'video', dedupeKey: 'k', input: 1 });

    expect(first).toMatchObject({ status: 201, body: { status: 'running', deduplicated: false } });
    expect(second).toMatchObject({
      status: 200,
      body: { id: first.body.id, status: 'running', deduplicated: true },
    });
    expect(other).toMatchObject({
      status: 409,
      body: { error: { code: 'dedupe_mismatch', details: [{ path: '/dedupeKey' }] } },
    });
    expect(task).toMatchObject({ status: 201, body: { deduplicated: false } });
  });

  test('with an inline definition and waitMs it answers with the ended run', async () => {
    const definition = {
      tasks: [
        {
          taskReferenceName: 'set',
          type: 'SET_VARIABLE',
          inputParameters: { greeting: 'hello ${workflow.input.name}' },
        },
      ],
      outputParameters: { text: '${workflow.variables.greeting}' },
    };
    const request = { workflow: 'inline', definition, input: { name: 'Ada' } };

    const { status, body } = await api.post('/v1/runs?waitMs=10000', request);

    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ workflow: 'inline', version: null, status: 'succeeded' },
      ...{ output: { text: 'hello Ada' }, variables: { greeting: 'hello Ada' } },
    });
    expect((await api.get('/v1/workflows/inline')).status).toBe(404);
  });

  test('an array is all or nothing', async () => {
    const good = { workflow: 'video', correlationId: 'all' };
    const two = await api.post('/v1/runs', [good, good]);
    const unknown = await api.post('/v1/runs', [good, { workflow: 'nobody' }]);
    const wrong = await api.post('/v1/runs', [good, { ...good, definition: { tasks: [] } }]);

    expect(two).toMatchObject({ status: 201, body: { items: [{}, {}] } });
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'workflow_not_found' } } });
    expect(wrong.body.error).toMatchObject({
      code: 'invalid_definition',
      details: [{ path: '/1/definition/tasks' }],
    });
    expect((await api.get('/v1/runs?correlationId=all')).body.items).toHaveLength(2);
  });

  test.each([
    [{}, '/workflow'],
    [{ workflow: 'video', colour: 'red' }, '/colour'],
    [{ workflow: 'a b' }, '/workflow'],
    [{ workflow: 'video', version: 0 }, '/version'],
    [{ workflow: 'video', version: 1, definition: VIDEO }, '/version'],
    [{ workflow: 'video', priority: 9 }, '/priority'],
    [{ workflow: 'video', dedupeWindowMs: 5000 }, '/dedupeWindowMs'],
    [{ workflow: 'video', correlationId: '' }, '/correlationId'],
    [{ workflow: 'video', tags: { a: 1 } }, '/tags/a'],
  ])('%j is refused by its name', async (request, path) => {
    const { status, body } = await api.post('/v1/runs', request);
    expect([status, body.error.details[0].path]).toEqual([400, path]);
  });
});

describe('docs/workflows.md', () => {
  const run = promisify(execFile);

  async function pageBlocks(language: string): Promise<string[]> {
    const page = await readFile(join(import.meta.dirname, '../../docs/workflows.md'), 'utf8');
    const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```/gms)];
    return blocks.flatMap(([, name, block]) => (name === language ? [block] : []));
  }

  /** Ends the next open task of this type from outside. */
  async function complete(type: string, output: object): Promise<void> {
    let id: string | undefined;
    const isThere = async () => {
      const { body } = await api.get(`/v1/tasks?type=${type}&state=queued`);
      id = body.items[0]?.id;
      return id !== undefined;
    };
    await waitUntil(isThere, { what: `a task of type ${type} is queued`, timeoutMs: 10_000 });
    await api.post(`/v1/tasks/${id}/complete`, { output });
  }

  test('its definition and its commands work', async () => {
    const [definition] = await pageBlocks('json');
    const [register, start, look] = (await pageBlocks('')).map((command) =>
      command.replace('localhost:7420', new URL(server.url).host),
    );
    await writeFile(join(folder, 'order.json'), definition);
    const curl = async (command: string) => {
      const { stdout } = await run('bash', ['-c', `${command.trim()} -s`], { cwd: folder });
      return JSON.parse(stdout);
    };

    expect(await curl(register)).toMatchObject({ name: 'order', change: 'new' });
    const { id } = await curl(start);
    expect((await curl(look)).items).toMatchObject([{ id, status: 'running' }]);
    await complete('charge', { receipt: 'r-1' });
    await complete('invoice', {});
    await complete('pack', { parcel: 'p-1' });
    await complete('drive', {});

    const { body } = await api.get(`/v1/runs/${id}/wait`);
    expect(body.output).toEqual({ receipt: 'r-1', parcel: 'p-1' });
    expect(body.steps[0].input).toEqual({ amount: 12 });
  });
});

// The projection has much to read after this, so it comes last.
test('definitions have a bound on their memory, and a deleted one makes room', async () => {
  const large = { tasks: [simple('probe', 'a', { text: 'x'.repeat(1_000_000) })] };
  const put = (version: number) => api.put(`/v1/workflows/large/versions/${version}`, large);
  let version = 1;
  let answer = await put(version);
  while (answer.status === 201 && version < 100) {
    version += 1;
    answer = await put(version);
  }

  expect(answer).toMatchObject({ status: 429, body: { error: { code: 'too_many_workflows' } } });
  const inline = await api.post('/v1/runs', { workflow: 'inline', definition: large });
  expect(inline.body.error.code).toBe('too_many_workflows');
  await api.delete('/v1/workflows/large/versions/1');
  expect((await put(version)).status).toBe(201);
  for (let n = 2; n <= version; n++) await api.delete(`/v1/workflows/large/versions/${n}`);
}, 60_000);
