import { LIMITS } from '@sluice/protocol/limits';
import { describe, expect, test } from 'vitest';
import { SluiceError } from '../calls/sluice-error.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import { type AnyTask, defineTask } from '../task/define-task.ts';
import { HandBack, Later, PermanentFailure, RetryAfter, TaskAborted } from '../task/failures.ts';
import type { TaskContext } from '../task/task-context.ts';
import { TestBlobs } from '../test-sluice/server/test-blobs.ts';
import { RecordedSubmits } from '../testing/recorded-submits.ts';
import type { Attempt } from './attempt-context.ts';
import type { Ending } from './final-reports.ts';
import { HandlerRuns } from './handler-runs.ts';

const NOW = Date.UTC(2030, 0, 1);

class RunsUnderTest {
  readonly said: [string, unknown][] = [];
  readonly failedListeners: unknown[] = [];
  readonly runs: HandlerRuns;
  readonly blobs = new TestBlobs();
  readonly submitted = new RecordedSubmits();
  readonly events: AttemptEvent[] = [];
  ticks = 0;
  private readonly ended = new Map<string, (ending: Ending) => void>();

  constructor(...tasks: AnyTask[]) {
    this.runs = new HandlerRuns(tasks, {
      reports: {
        finish: (lease, ending) => this.ended.get(lease)?.(ending),
        progress: (lease, progress) => this.said.push([lease, progress]),
        heartbeat: (lease) => this.said.push([lease, 'alive']),
        log: (lease, line) => this.said.push([lease, line]),
      },
      blobs: this.blobs,
      submits: this.submitted.submits,
      now: () => NOW,
      ticks: () => this.ticks,
      onAttempt: (event) => this.events.push(event),
      onListenerError: (id, cause) => this.failedListeners.push([id, cause]),
    });
  }

  /** Runs a task and waits for its end. */
  run(type: string, input: unknown = null, lease = 'l_1'): Promise<Ending> {
    return this.runTask({ type, input }, lease);
  }

  runTask(task: Pick<Attempt, 'type' | 'input' | 'inputBlob'>, lease = 'l_1'): Promise<Ending> {
    const attempt = { id: `t_${lease}`, attempt: 2, lease, tags: { color: 'red' }, ...task };
    return new Promise((resolve) => {
      this.ended.set(lease, resolve);
      this.runs.run(attempt);
    });
  }
}

/** The ending of a handler with this function. */
async function endOf(run: (input: unknown, context: TaskContext) => unknown): Promise<Ending> {
  return new RunsUnderTest(defineTask({ type: 'a', run })).run('a');
}

describe('how a handler ends', () => {
  test('what it returns is the output, now or later', async () => {
    expect(await endOf(() => 7)).toEqual({ kind: 'succeeded', output: '7' });
    expect(await endOf(async () => ({ a: 1 }))).toEqual({ kind: 'succeeded', output: '{"a":1}' });
    expect(await endOf(() => undefined)).toEqual({ kind: 'succeeded', output: 'null' });
    expect(await endOf(() => Later)).toEqual({ kind: 'later' });
  });

  test('what it throws is a failure, now or later', async () => {
    const boom = (): never => {
      throw Object.assign(new Error('boom'), { code: 'E_BOOM' });
    };

    const error = { message: 'boom', code: 'E_BOOM', stack: expect.stringContaining('boom') };
    expect(await endOf(boom)).toEqual({ kind: 'failed', error });
    expect(await endOf(async () => boom())).toEqual({ kind: 'failed', error });
  });

  test('a permanent failure is not retried, and RetryAfter says when', async () => {
    const declined = await endOf(() => Promise.reject(new PermanentFailure('declined')));
    const busy = await endOf(() => Promise.reject(new RetryAfter(5000)));

    expect(declined).toMatchObject({ retryable: false, error: { message: 'declined' } });
    expect(busy).toMatchObject({ retryAfterMs: 5000, error: { message: 'try again in 5000 ms' } });
  });

  test.each([
    ['a text', 'no', 'no'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('x'), 'Symbol(x)'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['something without a text', Object.create(null), 'a value that cannot be shown'],
  ])('a handler may throw %s', async (_, thrown, message) => {
    const ending = await endOf(() => Promise.reject(thrown));

    expect(ending).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining(message) },
    });
  });

  test('one that cannot run the task here hands it back', async () => {
    expect(await endOf(() => Promise.reject(new HandBack('no camera here')))).toEqual({
      kind: 'refused',
    });
  });

  test('one that fails does not hurt others, nor does one that never ends', async () => {
    const runs = new RunsUnderTest(
      defineTask({
        type: 'a',
        run: (input: string) => {
          if (input === 'throws') throw new Error('boom');
          return input === 'hangs' ? new Promise(() => undefined) : input;
        },
      }),
    );

    const hanging = runs.run('a', 'hangs', 'l_1');
    const [failed, fine] = await Promise.all([
      runs.run('a', 'throws', 'l_2'),
      runs.run('a', 'works', 'l_3'),
    ]);

    expect([failed.kind, fine.kind]).toEqual(['failed', 'succeeded']);
    expect(runs.runs.size).toBe(1);
    expect(hanging).toBeInstanceOf(Promise);
  });

  test('a type without a handler is a failure that says so', async () => {
    const ending = await new RunsUnderTest(defineTask({ type: 'a' })).run('a');

    expect(ending).toMatchObject({ error: { message: "no handler for the type 'a'" } });
  });
});

describe('payloads that are too big for a request', () => {
  const large = 'x'.repeat(LIMITS.payloadBytesMax);

  test('an output goes ahead of its report', async () => {
    const runs = new RunsUnderTest(defineTask({ type: 'a', run: () => large }));

    const ending = await runs.run('a');

    const outputBlob = await runs.blobs.put(JSON.stringify(large));
    expect(ending).toEqual({ kind: 'succeeded', outputBlob });
  });

  test('an output at the limit does not', async () => {
    const ending = await endOf(() => large.slice(2));

    expect(ending).toMatchObject({ output: JSON.stringify(large.slice(2)) });
  });

  test.each([
    [
      'is refused for good',
      'payload_too_large',
      { code: 'output_too_large' },
      { retryable: false },
    ],
    ['finds nobody', 'no_answer', { code: 'no_answer' }, {}],
  ])('an output that %s is a failure', async (_, code, error, more) => {
    const runs = new RunsUnderTest(defineTask({ type: 'a', run: () => large }));
    runs.blobs.put = () => Promise.reject(new SluiceError(code, 'no'));

    const ending = await runs.run('a');

    expect(ending).toMatchObject({ kind: 'failed', error, ...more });
    expect('retryable' in ending).toBe('retryable' in more);
  });

  test('an input is there when the handler begins', async () => {
    const runs = new RunsUnderTest(defineTask({ type: 'a', run: (input: unknown) => input }));
    const inputBlob = await runs.blobs.put('{"n":1}');

    expect(await runs.runTask({ type: 'a', inputBlob })).toMatchObject({ output: '{"n":1}' });
  });

  test.each([
    [
      'is not there',
      () => Promise.reject(new SluiceError('blob_not_found', 'no')),
      'blob_not_found',
    ],
    ['is not JSON', async () => '{', 'input_not_json'],
  ])('an input that %s is a failure for good that names it', async (_, get, code) => {
    const runs = new RunsUnderTest(defineTask({ type: 'a', run: () => 'never' }));
    runs.blobs.get = get;

    const ending = await runs.runTask({ type: 'a', inputBlob: 'c0ffee' });

    const message = expect.stringContaining('c0ffee');
    expect(ending).toMatchObject({ kind: 'failed', error: { code, message }, retryable: false });
  });

  test('an input that nobody could be asked for is tried again', async () => {
    const runs = new RunsUnderTest(defineTask({ type: 'a', run: () => 'never' }));
    runs.blobs.get = () => Promise.reject(new SluiceError('no_answer', 'no'));

    const ending = await runs.runTask({ type: 'a', inputBlob: 'c0ffee' });

    expect(ending).toMatchObject({ kind: 'failed', error: { code: 'no_answer' } });
    expect(ending).not.toHaveProperty('retryable');
  });

  test('a handler that was aborted meanwhile does not begin', async () => {
    let hasRun = false;
    const task = defineTask({
      type: 'a',
      run: () => {
        hasRun = true;
      },
    });
    const runs = new RunsUnderTest(task);
    const inputBlob = await runs.blobs.put('1');

    const ended = runs.runTask({ type: 'a', inputBlob });
    runs.runs.abort('l_1', { type: 'cancelled', graceMs: 1, reason: 'cancelled' });

    expect(await ended).toEqual({ kind: 'cancelled' });
    expect(hasRun).toBe(false);
  });
});

describe('what a handler knows', () => {
  test('its task, its tags, and a key that is the same at every attempt', async () => {
    const ending = await endOf((_, { id, type, attempt, tags, idempotencyKey }) => {
      return { id, type, attempt, tags, idempotencyKey };
    });

    const id = 't_l_1';
    const output = { id, type: 'a', attempt: 2, tags: { color: 'red' }, idempotencyKey: id };
    expect(ending).toEqual({ kind: 'succeeded', output: JSON.stringify(output) });
  });

  test('progress, heartbeats and lines go out under its lease', async () => {
    const runs = new RunsUnderTest(
      defineTask({
        type: 'a',
        async run(_: unknown, { progress, heartbeat, log }) {
          await progress(0.5, 'half');
          await progress(1);
          await heartbeat();
          await log('a line');
        },
      }),
    );

    await runs.run('a');

    expect(runs.said).toEqual([
      ['l_1', { fraction: 0.5, message: 'half' }],
      ['l_1', { fraction: 1 }],
      ['l_1', 'alive'],
      ['l_1', 'a line'],
    ]);
  });
});

describe('a handler that has to stop', () => {
  const waits = defineTask({
    type: 'a',
    run: (_: unknown, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });

  test.each([
    [{ type: 'cancelled', graceMs: 5, reason: 'cancelled' } as const, 'cancelled'],
    [{ type: 'lease_lost' } as const, 'cancelled'],
    [{ type: 'stopping' } as const, 'failed'],
    [{ type: 'timed_out', graceMs: 5, reason: 'run_timeout' } as const, 'failed'],
  ])('%o ends it as %s', async (reason, kind) => {
    const runs = new RunsUnderTest(waits);
    const ended = runs.run('a');

    runs.runs.abort('l_1', reason);

    expect((await ended).kind).toBe(kind);
  });

  test('the reason says why, also when the handler looks late', async () => {
    let reason: unknown;
    const runs = new RunsUnderTest(
      defineTask({
        type: 'a',
        async run(_: unknown, context) {
          await Promise.resolve();
          reason = context.signal.reason;
        },
      }),
    );
    const ended = runs.run('a');

    runs.runs.abort('l_1', { type: 'cancelled', graceMs: 700, reason: 'cancelled' });

    expect(await ended).toMatchObject({ kind: 'succeeded' });
    expect(reason).toBeInstanceOf(TaskAborted);
    expect(reason).toMatchObject({ type: 'cancelled', graceMs: 700 });
  });
});

describe('signals', () => {
  test('are heard in order, also those that came before anybody listened', async () => {
    const heard: unknown[] = [];
    const runs = new RunsUnderTest(
      defineTask({
        type: 'a',
        async run(_: unknown, { onSignal }) {
          await Promise.resolve();
          const done = new Promise<void>((resolve) => {
            const stop = onSignal((name, data) => {
              heard.push([name, data]);
              if (name !== 'last') return;
              stop();
              resolve();
            });
          });
          await done;
        },
      }),
    );
    const ended = runs.run('a');

    runs.runs.signal('l_1', 'early', 1);
    await Promise.resolve();
    await Promise.resolve();
    runs.runs.signal('l_1', 'last', 2);
    runs.runs.signal('l_1', 'too late', 3);
    await ended;

    expect(heard).toEqual([
      ['early', 1],
      ['last', 2],
    ]);
  });

  test('a listener that throws hurts neither its handler nor other listeners', async () => {
    const heard: string[] = [];
    const runs = new RunsUnderTest(
      defineTask({
        type: 'a',
        run: (_: unknown, { onSignal }) =>
          new Promise<void>((resolve) => {
            onSignal(() => {
              throw new Error('sync');
            });
            onSignal(async () => {
              throw new Error('async');
            });
            onSignal((name) => {
              heard.push(name);
              resolve();
            });
          }),
      }),
    );
    const ended = runs.run('a');

    runs.runs.signal('l_1', 'hello', null);

    expect((await ended).kind).toBe('succeeded');
    expect(heard).toEqual(['hello']);
    expect(runs.failedListeners).toEqual([
      ['t_l_1', new Error('sync')],
      ['t_l_1', new Error('async')],
    ]);
  });
});
