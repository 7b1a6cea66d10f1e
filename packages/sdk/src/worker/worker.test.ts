import { beforeEach, describe, expect, test } from 'vitest';
import { Sluice } from '../node/sluice.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import { type AnyTask, defineTask } from '../task/define-task.ts';
import { PermanentFailure } from '../task/failures.ts';
import { HttpStub, refused, type StubRequest } from '../testing/http-stub.ts';
import type { Worker, WorkerNotice, WorkOptions } from './worker.ts';

const SESSION = { sessionId: 's_1', heartbeatMs: 5000, leaseMs: 15_000, resumed: false, lost: [] };

const server = new HttpStub();
let sluice: Sluice;
let notices: WorkerNotice[];

beforeEach(async () => {
  server.requests.length = 0;
  server.answer = answerWorker;
  notices = [];
  if (server.url === '') await server.start();
  sluice = new Sluice({ url: ['http://127.0.0.1:1', server.url] });
  return () => sluice.close();
});

/** Welcomes workers and accepts their reports. */
function answerWorker({ method, path, body, response }: StubRequest) {
  if (path === '/v1/worker-sessions') {
    response.write(`event: welcome\ndata: ${JSON.stringify(SESSION)}\n\n`);
    return undefined;
  }
  if (method === 'GET') return registered(path);
  if (method === 'DELETE') return { status: 204, body: undefined };
  return { body: { outcomes: (body.reports ?? []).map(() => 'ok') } };
}

/** The registered definition of the type `known`. */
function registered(path: string) {
  if (path !== '/v1/task-types/known') return refused(404, 'task_type_not_found');
  return { body: { type: 'known', definition: { priority: 7, retry: { maxAttempts: 5 } } } };
}

/** Pushes a task on the newest stream. */
function push(type: string, input: unknown, lease: string, more: object = {}): void {
  const { response } = server.requests.findLast(({ path }) => path === '/v1/worker-sessions') ?? {};
  const task = {
    id: `t_${lease}`,
    type,
    attempt: 1,
    lease,
    resources: { slots: 1 },
    input,
    ...more,
  };
  response?.write(`event: tasks\ndata: ${JSON.stringify([task])}\n\n`);
}

/** What was reported so far, by lease and kind. */
function reports(): Record<string, unknown>[] {
  return server.bodiesTo('/v1/worker-sessions/s_1/reports').flatMap(({ reports = [] }) => reports);
}

function work(tasks: readonly AnyTask[], options: WorkOptions = {}): Promise<Worker> {
  const onNotice = (notice: WorkerNotice): unknown => notices.push(notice);
  return sluice.work(tasks, { handleSignals: false, logFailures: false, onNotice, ...options });
}

const echo = defineTask({ type: 'echo', concurrency: 5, run: (input: unknown) => input });

test('a worker says what it has, and is there once it is welcomed', async () => {
  const bulk = defineTask({ type: 'bulk', run: () => null });

  const worker = await work([echo, bulk], {
    slots: 7,
    resources: { cpu: 2, custom: { licence: 1 } },
    concurrency: { bulk: 2 },
    labels: { zone: 'eu' },
    version: '1.2.3',
    name: 'w-1',
    leaseMs: 30_000,
  });

  expect(worker.name).toBe('w-1');
  expect(server.bodiesTo('/v1/worker-sessions')).toEqual([
    {
      name: 'w-1',
      version: '1.2.3',
      types: [
        { type: 'echo', concurrency: 5 },
        { type: 'bulk', concurrency: 2 },
      ],
      capacity: { cpu: 2, custom: { licence: 1 }, slots: 7 },
      labels: { zone: 'eu' },
      leaseMs: 30_000,
    },
  ]);
  // The first address does not answer.
  expect(notices.map(({ type }) => type)).toEqual(['disconnected', 'connected']);
});

test('a worker that says nothing has 100 slots and a name', async () => {
  await work([echo]);

  const [{ name, capacity }] = server.bodiesTo('/v1/worker-sessions');
  expect(capacity).toEqual({ slots: 100 });
  expect(name).toMatch(/-\d+$/);
});

test('a worker that the server will not have is an error', async () => {
  server.answer = () => refused(400, 'invalid_request', '/labels');

  await expect(work([echo])).rejects.toMatchObject({ code: 'invalid_request' });
});

test.each([
  ['no tasks', []],
  ['a task without a handler', [defineTask({ type: 'a' })]],
  ['two of a type', [echo, echo]],
])('%s cannot be worked on', async (_, tasks) => {
  await expect(work(tasks)).rejects.toThrow(TypeError);
});

describe('what handlers return', () => {
  test('is reported, with what they said on the way', async () => {
    await work([
      defineTask({
        type: 'talks',
        async run(input: string, { progress, log }) {
          await log(`got ${input}`);
          await progress(0.5);
          return { input };
        },
      }),
    ]);

    push('talks', 'Ä', 'l_1');
    await expect.poll(() => reports().some(({ kind }) => kind === 'succeeded')).toBe(true);

    expect(reports()).toMatchObject([
      { kind: 'log', seq: 1, lines: ['got Ä'] },
      { kind: 'succeeded', output: { input: 'Ä' } },
    ]);
  });

  test.each([
    ['a BigInt', { n: 1n }, 'output_not_json'],
    ['a cycle', cycle(), 'output_not_json'],
  ])('%s is a failure that says so, and others are not hurt', async (_, bad, code) => {
    await work([echo, defineTask({ type: 'bad', run: (): unknown => bad })]);

    push('bad', null, 'l_1');
    push('echo', 'fine', 'l_2');
    await expect.poll(() => reports().length).toBe(2);

    expect(reports().find(({ lease }) => lease === 'l_1')).toMatchObject({
      kind: 'failed',
      retryable: false,
      error: { code },
    });
    expect(reports().find(({ lease }) => lease === 'l_2')).toMatchObject({ output: 'fine' });
  });
});

function cycle(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}

describe('a stop', () => {
  test('lets handlers end, and leaves', async () => {
    let release: ((output: string) => void) | undefined;
    const slow = defineTask({
      type: 'slow',
      run: () =>
        new Promise<string>((resolve) => {
          release = resolve;
        }),
    });
    const worker = await work([slow]);
    push('slow', null, 'l_1');
    await expect.poll(() => release).toBeDefined();

    const stopped = worker.stop();
    await expect
      .poll(() => server.requests.some(({ body }) => body?.capacity?.slots === 0))
      .toBe(true);
    expect(server.requests.some(({ method }) => method === 'DELETE')).toBe(false);
    release?.('done');
    await stopped;

    expect(reports()).toMatchObject([{ lease: 'l_1', kind: 'succeeded', output: 'done' }]);
    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE' });
  });

  test('aborts handlers that go on for too long, and hands their tasks back', async () => {
    const reasons: unknown[] = [];
    let isRunning = false;
    const endless = defineTask({
      type: 'endless',
      run: (_: unknown, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          isRunning = true;
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason.type);
            reject(signal.reason);
          });
        }),
    });
    const worker = await work([endless]);
    push('endless', null, 'l_1');
    await expect.poll(() => isRunning).toBe(true);

    await worker.stop({ graceMs: 50 });

    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE' });
    expect(reports().filter(({ kind }) => kind !== 'started')).toEqual([]);
    expect(reasons).toEqual(['stopping']);
  });

  test('a handler that is aborted may still say that its task must not run again', async () => {
    let isRunning = false;
    const hopeless = defineTask({
      type: 'hopeless',
      run: async (_: unknown, { signal }) => {
        isRunning = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new PermanentFailure('no use');
      },
    });
    const worker = await work([hopeless]);
    push('hopeless', null, 'l_1');
    await expect.poll(() => isRunning).toBe(true);

    await worker.stop({ graceMs: 50 });

    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE' });
    expect(reports().filter(({ kind }) => kind !== 'started')).toMatchObject([
      { lease: 'l_1', kind: 'failed', error: { message: 'no use' }, retryable: false },
    ]);
  });

  test('ends before the server was ever reached', async () => {
    const lost = new Sluice({ url: 'http://127.0.0.1:1' });
    const working = lost.work([echo], { handleSignals: false, onNotice: () => undefined });
    const refusal = expect(working).rejects.toMatchObject({ code: 'closed' });

    await lost.close();

    await refusal;
  });
});

test('what onNotice throws does not hurt the worker', async () => {
  const written: unknown[] = [];
  const original = console.error;
  console.error = (...words: unknown[]) => written.push(words.join(' '));
  try {
    await work([echo], {
      onNotice: () => {
        throw new Error('boom');
      },
    });
    push('echo', 1, 'l_1');
    await expect.poll(() => reports().length).toBe(1);
  } finally {
    console.error = original;
  }

  expect(written[0]).toContain('onNotice failed: Error: boom');
});

describe('failed attempts', () => {
  const boom = defineTask({
    type: 'boom',
    // The server says how often this task is tried: a submit may have said something else.
    retry: { maxAttempts: 5 },
    run: (input: string) => Promise.reject(new Error(`boom ${input.length}`)),
  });

  /** What was written to the console while a task failed. */
  async function writtenFor(options: WorkOptions): Promise<string[]> {
    const written: string[] = [];
    const original = console.error;
    console.error = (line: string) => written.push(line);
    try {
      await sluice.work([boom], { handleSignals: false, onNotice: () => undefined, ...options });
      push('boom', 'secret', 'l_1', { maxAttempts: 1 });
      await expect.poll(() => reports().some(({ kind }) => kind === 'failed')).toBe(true);
    } finally {
      console.error = original;
    }
    return written;
  }

  test('are one line each', async () => {
    const written = await writtenFor({});

    expect(written).toEqual([
      expect.stringMatching(
        /^sluice: task t_l_1 \(boom\) failed at attempt 1 after \d+ ms: boom 6 \(no retry\)$/,
      ),
    ]);
  });

  test('are told to a hook, also without the line', async () => {
    const events: AttemptEvent[] = [];

    const written = await writtenFor({
      logFailures: false,
      onAttempt: (event) => void events.push(event),
    });

    expect(written).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['started', 'failed', 'ended']);
    expect(events[1]).toMatchObject({
      taskId: 't_l_1',
      taskType: 'boom',
      error: { name: 'Error' },
    });
  });

  test('a hook that throws, at once or later, harms nothing', async () => {
    const written = await writtenFor({
      logFailures: false,
      onAttempt: async ({ type }) => {
        throw new Error(`hook of ${type}`);
      },
    });

    expect(written.map((line) => line.split('\n')[0])).toEqual([
      'sluice: onAttempt failed: Error: hook of started',
      'sluice: onAttempt failed: Error: hook of failed',
      'sluice: onAttempt failed: Error: hook of ended',
    ]);
  });
});

describe('a definition that differs from the registered one', () => {
  const known = defineTask({
    type: 'known',
    priority: 7,
    retry: { maxAttempts: 2, jitter: false },
    run: () => null,
  });

  test('is reported once, with its fields, however often the worker connects', async () => {
    await work([echo, known]);
    await expect.poll(() => notices.some(({ type }) => type === 'definition_differs')).toBe(true);
    server.requests.findLast(({ path }) => path === '/v1/worker-sessions')?.response.end();
    await expect.poll(() => notices.filter(({ type }) => type === 'connected').length).toBe(2);

    push('echo', 1, 'l_1');
    await expect.poll(() => reports().length).toBe(1);

    expect(notices.filter(({ type }) => type === 'definition_differs')).toEqual([
      {
        type: 'definition_differs',
        taskType: 'known',
        fields: ['retry.jitter', 'retry.maxAttempts'],
      },
    ]);
    const looked = server.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect(looked).toEqual(['/v1/task-types/echo', '/v1/task-types/known']);
  });

  test('a key that may not read definitions is no problem', async () => {
    server.answer = (request) => {
      return request.method === 'GET' ? refused(403, 'forbidden') : answerWorker(request);
    };

    await work([known]);
    push('known', 1, 'l_1');
    await expect.poll(() => reports().length).toBe(1);

    expect(notices.filter(({ type }) => type !== 'disconnected')).toMatchObject([
      { type: 'connected' },
    ]);
  });
});
