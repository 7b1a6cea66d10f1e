import { REPORT_SCHEMAS } from '@sluice/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { HandBack, Later, PermanentFailure, RetryAfter } from '../task/failures.ts';
import type { TaskContext } from '../task/task-context.ts';
import { type Schema, schemaProblems } from '../test-sluice/server/schema-problems.ts';
import { TestBlobs } from '../test-sluice/server/test-blobs.ts';
import { RecordedSubmits } from '../testing/recorded-submits.ts';
import type { ScriptedRequest } from '../testing/scripted-http.ts';
import { StrayErrors } from '../testing/stray-errors.ts';
import { pushed, WorkerUnderTest } from '../testing/worker-under-test.ts';
import { HandlerRuns } from './handler-runs.ts';
import { failureLine } from './worker-lines.ts';

/**
 * Whatever a handler does with its context, throws or returns ends its own attempt and affects
 * nothing else. `StrayErrors` catches errors that would end the process.
 */

const stray = new StrayErrors();

beforeEach(() => stray.listen());
afterEach(() => stray.stop());

const hostileProxy: unknown = new Proxy(
  {},
  {
    get: () => {
      throw Object.create(null);
    },
    getPrototypeOf: () => {
      throw Object.create(null);
    },
  },
);

/** Values that throw when they are inspected, and values of the wrong type. */
const HOSTILE: readonly unknown[] = [
  Object.create(null),
  Symbol('x'),
  1n,
  -0,
  '\ud800',
  `${'x'.repeat(8191)}😀`,
  () => undefined,
  hostileProxy,
  { toJSON: () => throws(Object.create(null)) },
  { toJSON: () => throws(hostileProxy) },
  { toString: () => throws(new Error('no text')) },
  { toString: () => ({}), valueOf: () => ({}) },
  {
    // biome-ignore lint/suspicious/noThenProperty: a handler may return such a thing
    get then() {
      return throws(hostileProxy);
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: a handler may return such a thing
  { then: (_: unknown, reject: (cause: unknown) => void) => reject(hostileProxy) },
  Object.assign(new Error('odd'), { message: Object.create(null), code: 7n, stack: Symbol('s') }),
  Object.defineProperty(new Error('odd'), 'message', { get: () => throws(hostileProxy) }),
  new PermanentFailure('for good'),
  new HandBack('not here'),
  new RetryAfter(1n as never),
  new RetryAfter(Symbol('soon') as never, 'soon'),
  new RetryAfter(Object.create(null), 'soon'),
  Later,
];

function throws(cause: unknown): never {
  throw cause;
}

const anyValue = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withMap: true }),
);

/** One call of a handler on its context. */
const step = fc.record({
  call: fc.constantFrom(
    ...['progress', 'log', 'heartbeat', 'usage', 'submit', 'submitMany'],
    ...['onSignal', 'onAbort', 'onabort'],
  ),
  first: anyValue,
  second: anyValue,
  isAwaited: fc.boolean(),
});

const handler = fc.record({
  steps: fc.array(step, { maxLength: 6 }),
  how: fc.constantFrom('returns', 'throws'),
  value: anyValue,
  hears: fc.constantFrom('nothing', 'a signal', 'a cancel'),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A listener that throws the value, or rejects when the value is `Later`. */
function listenerOf(value: unknown): () => unknown {
  return () => {
    if (value === Later) return Promise.reject(hostileProxy);
    throw value;
  };
}

async function take({ call, first, second, isAwaited }: Step, context: TaskContext) {
  const { signal, onSignal } = context;
  if (call === 'onSignal') onSignal(first === Later ? (second as never) : listenerOf(first));
  else if (call === 'onAbort') signal.addEventListener('abort', listenerOf(first));
  else if (call === 'onabort') signal.onabort = listenerOf(first);
  else {
    const said = context[call as 'progress'](first as never, second as never);
    if (isAwaited) await said;
  }
}

/** A worker with real handlers. The test is its server. */
class WorkerWithHandlers extends WorkerUnderTest {
  handlers: HandlerRuns | undefined;
  readonly lines: unknown[] = [];

  handle(run: (input: unknown, context: TaskContext) => unknown): void {
    const { session } = this;
    this.handlers = new HandlerRuns([defineTask({ type: 'a', run })], {
      blobs: new TestBlobs(),
      submits: new RecordedSubmits().submits,
      now: () => 0,
      ticks: () => 0,
      onAttempt: (event) => void this.lines.push(failureLine(event)),
      reports: session,
      onListenerError: () => undefined,
    });
  }

  override run(task: ReturnType<typeof pushed>): void {
    this.handlers?.run(task);
  }

  override abort(...args: Parameters<WorkerUnderTest['abort']>): void {
    this.handlers?.abort(...args);
  }

  override signal(...args: Parameters<WorkerUnderTest['signal']>): void {
    this.handlers?.signal(...args);
  }
}

const FINAL = new Set(['succeeded', 'failed', 'cancelled', 'later', 'refused']);

function schemaOf(kind: string): Schema {
  return REPORT_SCHEMAS[kind as keyof typeof REPORT_SCHEMAS] as Schema;
}

test('whatever a handler does ends its own attempt, in words that a server can read', async () => {
  await fc.assert(
    fc.asyncProperty(handler, async ({ steps, how, value, hears }) => {
      stray.heard.length = 0;
      const ends = new Set<string>();
      const worker = new WorkerWithHandlers();
      worker.handle(async (input, context) => {
        if (input === 'good') return 'fine';
        for (const one of steps) await take(one, context);
        if (hears !== 'nothing') await stray.turn();
        if (how === 'throws') throw value;
        return value;
      });
      worker.welcome();
      worker.push(pushed('l_1'), pushed('l_2', { input: 'good' }));
      const notice = { id: 't_l_1', lease: 'l_1' };
      if (hears === 'a signal') worker.stream.push('signal', { ...notice, name: 'n', data: 1 });
      if (hears === 'a cancel') {
        worker.stream.push('cancel', { ...notice, graceMs: 10, reason: 'cancelled' });
      }
      for (let turn = 0; turn < 4; turn++) {
        await stray.turn();
        for (const request of worker.requests.splice(0)) hear(request);
        worker.time.advance(1);
      }

      expect(stray.heard).toEqual([]);
      expect([...ends].sort()).toEqual(['l_1', 'l_2 succeeded']);

      function hear(request: ScriptedRequest): void {
        const reports: { lease: string; kind: string }[] = request.body.reports ?? [];
        for (const report of reports) {
          expect(schemaProblems(schemaOf(report.kind), report)).toEqual([]);
          if (!FINAL.has(report.kind)) continue;
          ends.add(report.lease === 'l_2' ? `l_2 ${report.kind}` : report.lease);
        }
        request.answer({ outcomes: reports.map(() => 'ok') });
      }
    }),
    { numRuns: 500 },
  );
});

test('an error that nobody catches is heard, so that the test above can fail', async () => {
  void Promise.reject(new Error('planted'));
  process.nextTick(() => throws(new Error('planted')));
  await stray.turn();

  expect(stray.heard).toHaveLength(2);
});
