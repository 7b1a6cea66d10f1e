import { TaskDefinition } from '@sluice/protocol';
import { describe, expect, test } from 'vitest';
import type { AttemptEvent } from '../task/attempt-event.ts';
import { defineTask } from '../task/define-task.ts';
import { PermanentFailure, RetryAfter, TaskAborted } from '../task/failures.ts';
import type { TaskContext } from '../task/task-context.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { endEvents, MAX_ATTEMPTS_DEFAULT } from './attempt-events.ts';
import { failureLine } from './worker-lines.ts';

const ATTEMPT = { id: 't_1', type: 'a', attempt: 1, lease: 'l_1', input: 'secret input' };
const FACTS = { taskId: 't_1', taskType: 'a', attempt: 1 };
const NOW = Date.UTC(2030, 0, 1);

function typesOf(events: readonly AttemptEvent[]): string[] {
  return events.map((event) => (event.type === 'ended' ? `ended ${event.outcome}` : event.type));
}

/** The events of a task on a virtual clock. */
async function eventsOf(
  run: (context: TaskContext) => unknown,
  retry = {},
): Promise<AttemptEvent[]> {
  const events: AttemptEvent[] = [];
  const task = defineTask({ type: 'a', retry, run: (_: null, context): unknown => run(context) });
  const onAttempt = (event: AttemptEvent) => void events.push(event);
  const handle = await new TestSluice([task], { onAttempt }).submit(task, null);
  await handle.wait();
  return events;
}

function failWith(
  thrown: unknown,
  more: {
    maxAttempts?: number;
    attempt?: number;
    aborted?: TaskAborted;
    retryAfterMs?: number;
  } = {},
): AttemptEvent[] {
  const { maxAttempts = 3, attempt = 1, aborted, retryAfterMs } = more;
  const error = { message: 'boom' };
  const ending = { kind: 'failed', error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const end = { ending: ending as never, thrown, aborted, durationMs: 35.4, endedAt: NOW };
  return endEvents({ ...ATTEMPT, attempt, maxAttempts }, end);
}

test('an attempt that succeeds starts and ends', async () => {
  const events = await eventsOf(() => 'fine');

  expect(events).toMatchObject([
    { type: 'started', taskType: 'a', attempt: 1 },
    { type: 'ended', outcome: 'succeeded', attempt: 1, durationMs: 0 },
  ]);
  expect(events[0].taskId).toMatch(/^t_/);
});

test('one that fails is retried, until no attempt is left', async () => {
  const boom = new Error('boom');
  const events = await eventsOf(() => Promise.reject(boom), { maxAttempts: 2 });

  expect(typesOf(events)).toEqual([
    ...['started', 'failed', 'retrying', 'ended failed'],
    ...['started', 'failed', 'ended failed'],
  ]);
  expect(events[1]).toMatchObject({ error: boom, attempt: 1, willRetry: true });
  expect(events[5]).toMatchObject({ error: boom, attempt: 2, willRetry: false });
});

test('a permanent failure is not retried; RetryAfter says when', async () => {
  const given = [new RetryAfter(60_000), new PermanentFailure('no')];
  const events = await eventsOf(({ attempt }) => Promise.reject(given[attempt - 1]));

  expect(typesOf(events)).toEqual([
    ...['started', 'failed', 'retrying', 'ended failed'],
    ...['started', 'failed', 'ended failed'],
  ]);
  expect(events[2]).toMatchObject({ retryAt: new Date('2030-01-01T00:01:00.000Z') });
});

test('an output that is not JSON is a failure with an error', async () => {
  const events = await eventsOf(() => 1n);

  expect(typesOf(events)).toEqual(['started', 'failed', 'ended failed']);
  expect(events[1]).toMatchObject({ error: { code: 'output_not_json' } });
  expect((events[1] as { error: unknown }).error).toBeInstanceOf(Error);
});

test('a list of delays has one attempt more', () => {
  expect(typesOf(failWith('x', { maxAttempts: 2, attempt: 1 }))).toContain('retrying');
  expect(typesOf(failWith('x', { maxAttempts: 2, attempt: 2 }))).not.toContain('retrying');
});

test('the default is that of the protocol', () => {
  const { maxAttempts } = TaskDefinition.properties.retry.properties;

  expect(maxAttempts).toMatchObject({ default: MAX_ATTEMPTS_DEFAULT });
});

describe('an attempt that was aborted', () => {
  test.each([
    ['lease_lost', 'ended lost'],
    ['stopping', 'ended handed_back'],
  ] as const)('by %s has not failed', (type, expected) => {
    expect(typesOf(failWith('x', { aborted: new TaskAborted(type, '', 0) }))).toEqual([expected]);
  });

  test('by its timeout has failed', () => {
    const events = failWith('x', { aborted: new TaskAborted('timed_out', '', 0) });

    expect(typesOf(events)).toEqual(['failed', 'retrying', 'ended failed']);
  });

  test('by a stop, and says when to try again, has failed', () => {
    const aborted = new TaskAborted('stopping', '', 0);

    expect(typesOf(failWith('x', { aborted, retryAfterMs: 5 }))).toContain('failed');
  });
});

describe('the line of a failed attempt', () => {
  function lineOf(thrown: unknown, more: Parameters<typeof failWith>[1] = {}): string | undefined {
    return failureLine(failWith(thrown, more)[0]);
  }

  test('names the task and the error, and nothing of the input', () => {
    expect(lineOf(new Error('no disk'))).toBe(
      'sluice: task t_1 (a) failed at attempt 1 after 35 ms: no disk (will be retried)',
    );
    expect(lineOf(new Error('no disk'), { attempt: 3 })).toMatch(/no disk \(no retry\)$/);
    expect(lineOf(new RetryAfter(5), { retryAfterMs: 5 })).toMatch(
      /\(next attempt 2030-01-01T00:00:00.005Z\)$/,
    );
  });

  test('is one line, clipped, with control characters made visible', () => {
    const line = lineOf(new Error(`a\n\u001b[31mred\u202e\u0000\u2028${'x'.repeat(1000)}`)) ?? '';

    expect(line).toContain('a\\n\\u001b[31mred\\u202e\\u0000\\u2028xxx');
    expect(line).toContain('x… (will be retried)');
    expect(line.length).toBeLessThan(450);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300])('bears a delay of %d', (delayMs) => {
    expect(lineOf('x', { retryAfterMs: delayMs })).toMatch(/next attempt 20\d\d-/);
  });

  test('there is none for other events', () => {
    expect(failureLine({ type: 'started', ...FACTS })).toBeUndefined();
  });
});

test('a cancelled task ends as cancelled, whatever its handler returns after that', () => {
  const aborted = new TaskAborted('cancelled', 'cancelled', 1000);
  const end = { ending: { kind: 'succeeded' } as never, aborted, durationMs: 1, endedAt: NOW };

  expect(endEvents(ATTEMPT, end)).toMatchObject([{ type: 'ended', outcome: 'cancelled' }]);
});
