import { beforeEach, expect, test } from 'vitest';
import { RunFailed } from '../calls/sluice-error.ts';
import { Sluice } from '../node/sluice.ts';
import { HttpStub, refused, type StubAnswer, type StubRequest } from '../testing/http-stub.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';

const order = defineWorkflow('order', { version: 2, input: inputOf<{ n: number }>() }, (w) => {
  return { n: w.step<number>('add', 'add', { n: w.input.n }).output };
});
const VERSION = '/v1/workflows/order/versions/2';

const server = new HttpStub();
let sluice: Sluice;
/** What the server has, by path. */
let registered: unknown;

beforeEach(async () => {
  server.requests.length = 0;
  registered = undefined;
  server.answer = answer;
  if (server.url === '') await server.start();
  sluice = new Sluice({ url: server.url });
  return () => sluice.close();
});

function answer({ method, path, body }: StubRequest): StubAnswer {
  if (path === VERSION && method === 'GET') {
    return registered === undefined
      ? refused(404, 'workflow_not_found')
      : { body: { name: 'order', version: 2, definition: registered } };
  }
  if (method === 'PUT') {
    registered = body;
    return { status: 201, body: { change: 'new' } };
  }
  if (path !== '/v1/runs' || method !== 'POST') return undefined;
  const started = { id: 'r_1', status: 'running', deduplicated: true };
  return { status: 201, body: Array.isArray(body) ? { items: body.map(() => started) } : started };
}

function calls(): string[] {
  return server.requests.map(({ method, path }) => `${method} ${path}`);
}

test('a workflow is registered by its first start, and compared once per client', async () => {
  await Promise.all([sluice.start(order, { n: 1 }), sluice.start(order, { n: 2 })]);
  const other = new Sluice({ url: server.url });
  await other.start(order, { n: 3 });
  await other.close();

  expect(calls()).toEqual([
    `GET ${VERSION}`,
    `PUT ${VERSION}?dryRun=false`,
    'POST /v1/runs',
    'POST /v1/runs',
    `GET ${VERSION}`,
    'POST /v1/runs',
  ]);
  expect(registered).toEqual(order.definition);
});

test('another definition of the version is an error, and is looked at again', async () => {
  registered = { ...order.definition, tasks: [] };
  const raise = { code: 'version_in_use', message: expect.stringContaining('raise the version') };

  await expect(sluice.start(order, { n: 1 })).rejects.toMatchObject(raise);
  registered = order.definition;
  await sluice.start(order, { n: 1 });

  expect(calls()).toEqual([`GET ${VERSION}`, `GET ${VERSION}`, 'POST /v1/runs']);
});

test('a workflow that is deleted meanwhile is registered once more', async () => {
  await sluice.start(order, { n: 1 });
  server.requests.length = 0;
  server.answer = (request) => {
    const isFirst = server.requests.length === 1;
    return isFirst ? refused(404, 'workflow_not_found') : answer(request);
  };

  await sluice.start(order, { n: 1 });

  expect(calls()).toEqual(['POST /v1/runs', `PUT ${VERSION}?dryRun=false`, 'POST /v1/runs']);
});

test('a key that may not register says what to do', async () => {
  server.answer = (request) => {
    return request.method === 'PUT' ? refused(403, 'forbidden') : answer(request);
  };

  await expect(sluice.start(order, { n: 1 })).rejects.toThrow(
    "version 2 of 'order' is not registered, and this key may not do it; register it with the " +
      "role operator, such as by 'sluice workflow apply'",
  );
});

test('a start whose answer is lost is sent again with the same key', async () => {
  server.answer = (request) => {
    if (server.requests.length > 1) return answer(request);
    request.drop();
    return undefined;
  };

  const run = await sluice.start('order', { n: 1 });

  const [first, second] = server.bodiesTo('/v1/runs');
  expect(second).toEqual(first);
  expect(first.dedupeKey).toMatch(/^sdk\./);
  expect(first.dedupeWindowMs).toBe(120_000);
  // The own key is no business of the caller.
  expect(run).toMatchObject({ id: 'r_1', deduplicated: false });
});

test('the key of the caller is kept', async () => {
  const options = { dedupeKey: 'mine', correlationId: 'c', priority: 7, tags: { a: 'b' } };

  const run = await sluice.start(order, { n: 1 }, options);

  expect(server.bodiesTo('/v1/runs')).toEqual([
    { workflow: 'order', version: 2, input: { n: 1 }, ...options },
  ]);
  expect(run.deduplicated).toBe(true);
});

test('many are started in parts, and errors have the index that the caller knows', async () => {
  const inputs = Array.from({ length: 1500 }, (_, n) => n);
  expect(await sluice.startMany('order', inputs)).toHaveLength(1500);
  expect(server.bodiesTo('/v1/runs').map((body) => body.length)).toEqual([1000, 500]);
  server.answer = (request) => {
    return request.body.length === 1000 ? answer(request) : refused(400, 'bad', '/3/input');
  };

  const failure = await sluice.startMany('order', inputs).catch((cause: unknown) => cause);

  expect(failure).toMatchObject({ details: [{ path: '/1003/input' }] });
});

test('an input that is not JSON is refused before it is sent', async () => {
  await expect(sluice.start('order', 1n)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/^the input of the run is not JSON: /),
  });
  expect(calls()).toEqual([]);
});

test('a wait asks until the run has ended', async () => {
  server.answer = ({ path }) => {
    expect(path).toMatch(/^\/v1\/runs\/r_1\/wait\?timeoutMs=5000$/);
    const status = server.requests.length < 3 ? 'running' : 'succeeded';
    return { body: { id: 'r_1', status, steps: [], output: { n: 7 } } };
  };

  expect(await sluice.run('r_1').result()).toEqual({ n: 7 });
  expect(server.requests).toHaveLength(3);
});

test('many waits share few requests, and each gets its turn', async () => {
  let most = 0;
  let answered = 0;
  const held: (() => void)[] = [];
  server.answer = ({ path, response }) => {
    const [, id] = /runs\/(\w+)\/wait/.exec(path) ?? [];
    held.push(() => response.end(JSON.stringify({ id, status: 'succeeded', output: id })));
    most = Math.max(most, held.length);
    // Answers when all that may come have come.
    if (held.length < Math.min(32, 100 - answered)) return undefined;
    answered += held.length;
    for (const release of held.splice(0)) release();
    return undefined;
  };
  const runs = Array.from({ length: 100 }, (_, n) => sluice.run(`r_${n}`));

  const results = await Promise.all(runs.map((run) => run.result()));

  expect(results).toEqual(runs.map(({ id }) => id));
  expect(most).toBe(32);
});

test('a wait that is aborted ends at once', async () => {
  const aborting = new AbortController();
  server.answer = () => {
    aborting.abort(new Error('enough'));
    return undefined;
  };

  await expect(sluice.run('r_1').wait({ signal: aborting.signal })).rejects.toThrow('enough');
});

test('a wait ends when the client is closed', async () => {
  server.answer = () => undefined;
  const waiting = sluice.run('r_1').result();

  await sluice.close();

  await expect(waiting).rejects.toMatchObject({ code: 'closed' });
});

test('a run that failed is an error with its step', async () => {
  const error = { message: 'step add failed', code: 'step_failed', step: 'add' };
  const steps = [{ reference: 'add', error: { message: 'no numbers' } }];
  const view = { id: 'r_1', workflow: 'order', status: 'failed', steps, error, output: null };
  server.answer = () => ({ body: view });

  const failure = await sluice
    .run('r_1')
    .result()
    .catch((cause: unknown) => cause);

  expect(failure).toBeInstanceOf(RunFailed);
  expect(failure).toMatchObject({
    message: 'run r_1 (order) ended as failed: step add: no numbers',
    step: 'add',
    error: { message: 'no numbers' },
    run: view,
  });
});

test('conditions and names are spelled so that the server reads them', async () => {
  server.answer = () => ({ body: { items: [], nextCursor: null } });

  await sluice.runs.page({ workflow: 'a', tags: { 'b&c': 'd e' }, since: new Date(0), limit: 5 });
  await sluice.runs.get('r/1');
  await sluice.runs.cancel('r_1');
  for await (const _ of sluice.runs.steps('r_1')) expect.unreachable();
  await sluice.workflows.page();
  await sluice.workflows.get('a:b');
  await sluice.workflows.version('a', 3);
  await sluice.workflows.delete('a', 3);

  expect(calls()).toEqual([
    'GET /v1/runs?workflow=a&since=1970-01-01T00%3A00%3A00.000Z&limit=5&tag.b%26c=d+e',
    'GET /v1/runs/r%2F1',
    'POST /v1/runs/r_1/cancel',
    'GET /v1/runs/r_1/steps?limit=200',
    'GET /v1/workflows',
    'GET /v1/workflows/a%3Ab',
    'GET /v1/workflows/a/versions/3',
    'DELETE /v1/workflows/a/versions/3',
  ]);
});

test('calls that let an ended run go on are sent', async () => {
  server.answer = () => ({ body: { id: 'r_1', status: 'running', steps: [] } });
  const run = sluice.run('r_1');

  await run.retry();
  await run.restart();
  await run.rerun('render', { width: 1 });
  await sluice.runs.retry(run);
  await sluice.runs.restart('r_1');
  await sluice.runs.rerun(run, 'render');
  await run.skip('render');
  await sluice.runs.skip(run, 'render');

  expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/runs/r_1/retry', undefined],
    ['/v1/runs/r_1/restart', undefined],
    ['/v1/runs/r_1/rerun', { fromStep: 'render', input: { width: 1 } }],
    ['/v1/runs/r_1/retry', undefined],
    ['/v1/runs/r_1/restart', undefined],
    ['/v1/runs/r_1/rerun', { fromStep: 'render' }],
    ['/v1/runs/r_1/steps/render/skip', undefined],
    ['/v1/runs/r_1/steps/render/skip', undefined],
  ]);
  await expect(run.rerun('render', 1n)).rejects.toThrow('the input of the step is not JSON');
});

test('calls that pause a run or end a step are sent', async () => {
  server.answer = () => ({ body: { id: 'r_1', status: 'running', steps: [] } });
  const run = sluice.run('r_1');

  await run.pause();
  await run.resume();
  await run.complete('approve__2', { by: 'ada' });
  await run.complete('a/b');
  await run.fail('approve', 'not today');
  await sluice.runs.pause(run);
  await sluice.runs.resume('r_1');
  await sluice.runs.complete(run, 'approve', 1);
  await sluice.runs.fail(run, 'approve', { message: 'no', code: 'late' });

  const key = expect.stringMatching(/^[A-Za-z0-9_.:-]{1,64}$/);
  expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/runs/r_1/pause', undefined],
    ['/v1/runs/r_1/resume', undefined],
    ['/v1/runs/r_1/steps/approve__2/complete', { output: { by: 'ada' }, key }],
    ['/v1/runs/r_1/steps/a%2Fb/complete', { output: null, key }],
    ['/v1/runs/r_1/steps/approve/fail', { error: { message: 'not today' }, key }],
    ['/v1/runs/r_1/pause', undefined],
    ['/v1/runs/r_1/resume', undefined],
    ['/v1/runs/r_1/steps/approve/complete', { output: 1, key }],
    ['/v1/runs/r_1/steps/approve/fail', { error: { message: 'no', code: 'late' }, key }],
  ]);
  await expect(run.complete('approve', 1n)).rejects.toThrow('the end of the step is not JSON');
});

test('a call that ends a step is sent again with the same key when no answer comes', async () => {
  server.answer = (request) => {
    if (server.requests.length > 1) return { body: { id: 'r_1', status: 'running', steps: [] } };
    request.drop();
    return undefined;
  };

  await sluice.run('r_1').complete('approve');
  await sluice.run('r_1').complete('approve');

  const keys = server.requests.map(({ body }) => (body as { key: string }).key);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[2]).not.toBe(keys[0]);
});

test('an output that is a blob is downloaded', async () => {
  server.answer = ({ path }) => {
    if (path.startsWith('/v1/blobs/')) return { body: { large: true } };
    return { body: { id: 'r_1', status: 'succeeded', steps: [], outputBlob: 'ab' } };
  };

  expect(await sluice.run('r_1').result()).toEqual({ large: true });
});
