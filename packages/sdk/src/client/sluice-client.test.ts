import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { LIMITS } from '@sluice/protocol/limits';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SluiceError, TaskFailed } from '../calls/sluice-error.ts';
import { Sluice } from '../node/sluice.ts';
import { defineTask } from '../task/define-task.ts';
import { HttpStub, refused, type StubAnswer, type StubRequest } from '../testing/http-stub.ts';

const hello = defineTask({
  type: 'hello',
  run: (input: { name: string }) => `Hello, ${input.name}`,
});

const server = new HttpStub();
let sluice: Sluice;

beforeEach(async () => {
  server.requests.length = 0;
  server.answer = answerAll;
  if (server.url === '') await server.start();
  sluice = new Sluice({ url: server.url, apiKey: 'slk_1' });
  return () => sluice.close();
});

afterEach(() => sluice.close());

/** Accepts every task, and reports every task as succeeded. */
function answerAll({ method, path, body }: StubRequest): StubAnswer {
  if (path === '/v1/tasks') return taken(body.length);
  if (path === '/v1/tasks/wait') return { body: { items: body.ids.map(succeeded) } };
  if (method === 'GET') return { body: { ...succeeded('t_1'), state: 'running', output: null } };
  return { body: succeeded('t_1') };
}

function taken(count: number): StubAnswer {
  const items = Array.from({ length: count }, (_, index) => {
    return { id: `t_${index}`, state: 'queued', deduplicated: false };
  });
  return { status: 201, body: { items } };
}

function succeeded(id: string): object {
  return { id, type: 'hello', state: 'succeeded', reason: 'succeeded', output: id, error: null };
}

async function errorOf(promise: Promise<unknown>): Promise<SluiceError> {
  const outcome = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(outcome).toBeInstanceOf(SluiceError);
  return outcome as SluiceError;
}

test('address and key come from the environment, and the key is shown to nobody', async () => {
  const { SLUICE_URL, SLUICE_API_KEY, ...others } = process.env;
  process.env = { ...others, SLUICE_URL: server.url, SLUICE_API_KEY: 'slk_env' };
  const client = new Sluice();
  process.env = { SLUICE_URL, SLUICE_API_KEY, ...others };

  await client.submit(hello, { name: 'Ada' });

  expect(client.addresses).toEqual([server.url]);
  expect(server.requests[0].key).toBe('Bearer slk_env');
  expect(inspect(client, { depth: 9 })).not.toContain('slk_env');
  expect(JSON.stringify(client.addresses)).not.toContain('slk_env');
  await client.close();
});

test('without an environment the address is the usual one', () => {
  const { SLUICE_URL, ...others } = process.env;
  process.env = others;
  const client = new Sluice();
  process.env = { ...others, ...(SLUICE_URL === undefined ? {} : { SLUICE_URL }) };

  expect(client.addresses).toEqual(['http://127.0.0.1:7420']);
});

describe('an output that is a blob', () => {
  const sha256 = 'c0ffee';

  function answerWith(text: string): void {
    const ended = { ...succeeded('t_1'), output: undefined, outputBlob: sha256 };
    server.answer = (request) => {
      if (request.path === '/v1/tasks/wait') return { body: { items: [ended] } };
      if (request.path !== `/v1/blobs/${sha256}`) return { body: ended };
      request.response.end(text);
      return undefined;
    };
  }

  test('is there for whoever asks for the result or for the task', async () => {
    answerWith('{"n":7}');
    const task = sluice.task('t_1');

    expect(await task.result()).toEqual({ n: 7 });
    expect(await task.get()).toMatchObject({ output: { n: 7 }, outputBlob: sha256 });
  });

  test('without JSON in it is an error that names it', async () => {
    answerWith('{');

    const error = await errorOf(sluice.task('t_1').result());

    expect(error.code).toBe('output_not_json');
    expect(error.message).toContain(sha256);
  });

  test('goes ahead of a task that is completed', async () => {
    server.answer = () => ({ body: succeeded('t_1') });
    const output = 'x'.repeat(LIMITS.payloadBytesMax);

    await sluice.task('t_1').complete(output);

    const [upload, end] = server.requests;
    expect(upload).toMatchObject({ method: 'PUT', body: output });
    expect(end.body).toMatchObject({ outputBlob: upload.path.slice('/v1/blobs/'.length) });
  });
});

describe('submit', () => {
  test('sends the task with a key of its own and the API key, and gives its handle', async () => {
    const task = await sluice.submit(hello, { name: 'Ada' }, { tags: { color: 'red' } });

    const [{ key, body }] = server.requests;
    expect(task.id).toBe('t_0');
    expect(key).toBe('Bearer slk_1');
    expect(body).toMatchObject([{ type: 'hello', input: { name: 'Ada' }, tags: { color: 'red' } }]);
    expect(body[0].dedupeKey).toMatch(/^sdk\./);
  });

  test('a task is sent again in the same words when the connection breaks', async () => {
    server.answer = (request) => {
      if (server.requests.length > 1) return answerAll(request);
      request.drop();
      return undefined;
    };

    await sluice.submit('hello', 1);

    const [first, second] = server.requests;
    expect(second.body).toEqual(first.body);
  });

  test('a refusal says what is wrong, and never the key', async () => {
    server.answer = () => refused(400, 'invalid_request', '/0/priority');

    const error = await errorOf(sluice.submit('hello', 1, { priority: 99 }));

    expect(error).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(error.message).toBe('no: invalid_request (/priority is bad)');
    expect(JSON.stringify(error) + error.stack).not.toContain('slk_1');
  });

  test('an input that is not JSON is refused here', async () => {
    const error = await errorOf(sluice.submit('hello', 1n));

    expect(error.message).toContain('is not JSON');
    expect(server.requests).toEqual([]);
  });

  test('a server that is away is given up after a while', async () => {
    const lost = new Sluice({ url: 'http://127.0.0.1:1', giveUpAfterMs: 1 });

    const error = await errorOf(lost.submit('hello', 1));

    expect(error).toMatchObject({ code: 'no_answer', status: 0 });
    expect(error.message).toContain('http://127.0.0.1:1');
  });
});

describe('submitMany', () => {
  test('keeps the order over several calls of at most 1,000', async () => {
    server.answer = ({ body }) => ({
      status: 201,
      body: {
        items: body.map(({ input }: { input: number }) => {
          return { id: `t_${input}`, state: 'queued', deduplicated: false };
        }),
      },
    });
    const inputs = Array.from({ length: 2500 }, (_, index) => index);

    const handles = await sluice.submitMany('n', inputs, (n) => ({ priority: Number(n) % 9 }));

    expect(handles.map(({ id }) => id)).toEqual(inputs.map((n) => `t_${n}`));
    const sizes = server.bodiesTo('/v1/tasks').map(({ length }) => length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([500, 1000, 1000]);
    expect(server.requests[0].body[7].priority).toBe(7);
  });

  test('what is too large together goes in parts', async () => {
    const inputs = Array.from({ length: 30 }, () => 'x'.repeat(200_000));

    const handles = await sluice.submitMany('n', inputs);

    expect(handles).toHaveLength(30);
    expect(server.requests.length).toBeGreaterThan(1);
  });

  test('one that is bad is named by its place among all', async () => {
    server.answer = (request) => {
      const isBad = request.body.some(({ input }: { input: number }) => input === 1003);
      return isBad ? refused(400, 'invalid_request', '/3/type') : answerAll(request);
    };
    const inputs = Array.from({ length: 1010 }, (_, index) => index);

    const error = await errorOf(sluice.submitMany('n', inputs));

    expect(error.details).toEqual([{ path: '/1003/type', problem: 'is bad' }]);
  });

  test('inputs that are too big for a request go ahead, a few at a time', async () => {
    const large = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(LIMITS.payloadBytesMax));
    const underWay: (() => void)[] = [];
    let arrived = 0;
    let most = 0;
    server.answer = (request) => {
      if (request.method !== 'PUT') return answerAll(request);
      arrived += 1;
      most = Math.max(
        most,
        underWay.push(() => request.response.end('{}')),
      );
      // All uploads that may run at once have arrived; the delay gives further ones time to arrive.
      if (underWay.length < 4 && arrived < large.length) return undefined;
      setTimeout(() => {
        for (const end of underWay.splice(0)) end();
      }, 20);
      return undefined;
    };

    const handles = await sluice.submitMany('n', ['small', ...large]);

    const [submit, ...others] = server.bodiesTo('/v1/tasks');
    expect(others).toEqual([]);
    expect(submit).toHaveLength(10);
    expect(submit[0]).toMatchObject({ input: 'small' });
    expect(submit[1]).not.toHaveProperty('input');
    large.forEach((input, n) => {
      const sha256 = createHash('sha256').update(JSON.stringify(input)).digest('hex');
      expect(submit[n + 1].inputBlob).toBe(sha256);
      expect(server.bodiesTo(`/v1/blobs/${sha256}`)).toEqual([input]);
    });
    expect(handles).toHaveLength(10);
    expect(most).toBe(4);
  });

  test('an input that is too big for everything is named, and nothing is submitted', async () => {
    const inputs = ['small', 'x'.repeat(LIMITS.blobBytesMax)];

    const error = await errorOf(sluice.submitMany('n', inputs));

    expect(error).toMatchObject({ code: 'payload_too_large', details: [{ path: '/1/input' }] });
    expect(server.requests).toEqual([]);
  });

  test('no inputs are no call', async () => {
    expect(await sluice.submitMany('n', [])).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

describe('handles', () => {
  test('give the output of a task that succeeded', async () => {
    const task = await sluice.submit(hello, { name: 'Ada' });

    expect(await task.result()).toBe('t_0');
  });

  test('throw when it did not', async () => {
    const error = { message: 'boom', code: 'E' };
    const failed = { ...succeeded('t_1'), state: 'failed', reason: 'failed', output: null, error };
    server.answer = () => ({ body: { items: [failed] } });

    const thrown = await sluice
      .task('t_1')
      .result()
      .catch((cause: unknown) => cause);

    expect(thrown).toBeInstanceOf(TaskFailed);
    expect(thrown).toMatchObject({ id: 't_1', state: 'failed', error });
    expect((thrown as Error).message).toBe('task t_1 (hello) ended as failed: boom');
  });

  test('one request waits for all of them', async () => {
    const held: StubRequest[] = [];
    server.answer = (request) => {
      held.push(request);
      return undefined;
    };
    const waits = ['t_1', 't_2', 't_3'].map((id) => sluice.task(id).wait());
    await expect.poll(() => held.at(-1)?.body.ids.length).toBe(3);

    held
      .at(-1)
      ?.response.end(JSON.stringify({ items: ['t_1', 't_2', 't_3'].map((id) => succeeded(id)) }));

    expect((await Promise.all(waits)).map(({ id }) => id)).toEqual(['t_1', 't_2', 't_3']);
  });

  test('a wait that is over in time shows the task as it is; a result throws', async () => {
    server.answer = (request) => {
      return request.path === '/v1/tasks/wait' ? undefined : answerAll(request);
    };

    const task = sluice.task('t_1');
    expect(await task.wait({ timeoutMs: 1 })).toMatchObject({ state: 'running' });
    const error = await errorOf(task.result({ timeoutMs: 1 }));

    expect(error.code).toBe('wait_timeout');
    expect(error.message).toBe('task t_1 is running after 1 ms');
  });

  test('a wait can be aborted, and the task knows nothing of it', async () => {
    server.answer = () => undefined;
    const controller = new AbortController();
    const wait = sluice.task('t_1').wait({ signal: controller.signal });

    controller.abort(new Error('enough'));

    await expect(wait).rejects.toThrow('enough');
    await expect(sluice.task('t_1').wait({ signal: controller.signal })).rejects.toThrow('enough');
  });

  test('a task that nobody knows is said to be so', async () => {
    server.answer = () => ({ body: { items: [], unknown: ['t_9'] } });

    const error = await errorOf(sluice.task('t_9').result());

    expect(error).toMatchObject({ code: 'task_not_found', status: 404 });
  });

  test('cancel, signal, complete, fail and register are calls of their own', async () => {
    const task = sluice.task<string>('t/1');

    await task.cancel({ graceMs: 5 });
    await task.signal('louder', { by: 3 });
    await task.complete('done');
    await task.fail('no');
    await sluice.register(defineTask({ type: 'a:b', priority: 7, concurrency: 3 }));

    const key = expect.stringMatching(/^[A-Za-z0-9.]{10,64}$/);
    expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/v1/tasks/t%2F1/cancel', { graceMs: 5 }],
      ['POST', '/v1/tasks/t%2F1/signal', { name: 'louder', data: { by: 3 }, key }],
      ['POST', '/v1/tasks/t%2F1/complete', { output: 'done', key }],
      ['POST', '/v1/tasks/t%2F1/fail', { error: { message: 'no' }, key }],
      ['PUT', '/v1/task-types/a%3Ab', { priority: 7 }],
    ]);
    const keys = server.requests.map(({ body }) => body.key).filter((each) => each !== undefined);
    expect(new Set(keys).size).toBe(3);
  });

  test('update is a merge patch, and a large input that is no object goes ahead', async () => {
    server.answer = () => ({ body: succeeded('t_1') });
    const large = 'x'.repeat(LIMITS.payloadBytesMax);
    const task = sluice.task('t_1');

    await sluice.update(task, { runAt: new Date(0), priority: null, tags: { a: null } });
    await sluice.update('t_1', { input: { b: null } });
    await task.update({ input: large, priority: 8 });

    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      [
        'PATCH',
        '/v1/tasks/t_1',
        { runAt: '1970-01-01T00:00:00.000Z', priority: null, tags: { a: null } },
      ],
      ['PATCH', '/v1/tasks/t_1', { input: { b: null } }],
      ['PUT', expect.stringContaining('/v1/blobs/'), large],
      ['PATCH', '/v1/tasks/t_1', { priority: 8, inputBlob: sha256 }],
    ]);
  });

  test('what is waited for when the client is closed is told', async () => {
    server.answer = () => undefined;
    const results = [sluice.submit('a', 1), sluice.task('t_1').result(), sluice.task('t_1').get()];
    const told = results.map((result) => errorOf(result));

    await sluice.close();

    expect((await Promise.all(told)).map(({ code }) => code)).toEqual([
      'closed',
      'closed',
      'closed',
    ]);
    expect((await errorOf(sluice.submit('a', 1))).code).toBe('closed');
  });
});
