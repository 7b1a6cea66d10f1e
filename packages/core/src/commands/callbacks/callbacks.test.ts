import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deliveryIdText, parseDeliveryId } from '../../base/delivery-id.ts';
import type { Delivery } from '../../state/outbox.ts';
import { DELIVERY_FAILURES, type DeliveryFailure } from '../../task/delivery-failures.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { TestTask } from '../../testing/test-requests.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { CancelTasks } from '../tasks/cancel-tasks.ts';
import type { EndTask } from '../tasks/end-task.ts';
import type { RetryTasks } from '../tasks/retry-tasks.ts';
import type { RecordDelivery } from './record-delivery.ts';
import type { RedeliverCallbacks } from './redeliver-callbacks.ts';

const HOUR_MS = 3_600_000;
const ALL_ENDS = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];

describe('what is owed', () => {
  test('a change to a state that is asked for, and no other', () => {
    const { partition, lease, session } = leased({ on: ['running', 'succeeded'] });
    expect(owed(partition)).toEqual([]);

    partition.report(session, { lease, kind: 'started' });
    partition.now += 5;
    partition.report(session, { lease, kind: 'succeeded' });

    expect(owed(partition)).toMatchObject([
      { number: 1, task: 1, at: partition.now - 5, tries: 0, nextAt: partition.now - 5 },
      { number: 2, task: 1, at: partition.now, tries: 0, nextAt: partition.now },
    ]);
    expect(statesOf(partition)).toEqual(['running', 'succeeded']);
  });

  test('nothing for a state that nobody asked for', () => {
    const { partition, lease, session } = leased({ on: ['failed'] });

    partition.report(session, { lease, kind: 'started' });
    partition.report(session, { lease, kind: 'succeeded' });

    expect(owed(partition)).toEqual([]);
  });

  test('a task that was cancelled before any worker had it owes its callback too', () => {
    const partition = ended('cancelled');

    expect(statesOf(partition)).toEqual(['cancelled']);
  });

  test('one that is deferred runs, and that is news once', () => {
    const quiet = leased({ on: ['running'] });
    const loud = leased({ on: ['running'] });

    quiet.partition.report(quiet.session, { lease: quiet.lease, kind: 'later' });
    loud.partition.report(loud.session, { lease: loud.lease, kind: 'started' });
    loud.partition.report(loud.session, { lease: loud.lease, kind: 'later' });

    expect(statesOf(quiet.partition)).toEqual(['running']);
    expect(statesOf(loud.partition)).toEqual(['running']);
  });

  test('a task that runs again and ends again owes again', () => {
    const partition = ended('failed');

    partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });
    end(partition, 'failed');

    expect(owed(partition).map(({ number }) => number)).toEqual([1, 2]);
  });

  test('a task that left memory still owes, and its callback is known', () => {
    const partition = ended('succeeded', { finishedTasksMax: 0 });

    partition.submit({});

    expect(partition.state.tasks.find(1 as never)).toBe(-1);
    expect(owed(partition)).toHaveLength(1);
    const [{ callback }] = owed(partition);
    expect(partition.state.texts.callback.at(callback)).toMatchObject({ url: 'http://x/a' });
    expect(tried(partition, undefined).outcome).toBe('delivered');
    expect(partition.state.texts.callback.size).toBe(1);
  });

  test('what is owed comes back from the log and from a snapshot', () => {
    const partition = ended('succeeded');
    tried(partition, 'timed_out');
    partition.snapshot();
    partition.submit({ callback: wanting(ALL_ENDS) });
    end(partition, 'failed', 2);

    for (const fromSnapshot of [true, false]) {
      const before = owed(partition);
      partition.restart(0, { fromSnapshot });
      expect(owed(partition)).toEqual(before);
    }
  });

  test('the command that makes it due says so', () => {
    const partition = new TestPartition();
    partition.submit({ callback: wanting(ALL_ENDS), delayMs: 5 });

    end(partition, 'cancelled');

    expect(partition.deliveries).toEqual([1]);
  });
});

describe('tries', () => {
  test('a delivery that was accepted is over', () => {
    const partition = ended('succeeded');

    expect(tried(partition, undefined)).toEqual({ outcome: 'delivered', nextAt: 0 });
    expect(owed(partition)).toEqual([]);
    expect(tried(partition, undefined)).toEqual({ outcome: 'unknown', nextAt: 0 });
  });

  test('the pause doubles from 5 s to an hour, and jitter adds up to a quarter', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 32 - 1), (seed) => {
        const partition = ended('succeeded');
        partition.seed = seed;
        for (let failures = 0; failures < 14; failures++) {
          const { nextAt } = tried(partition, 'timed_out');
          const delayMs = Math.min(5000 * 2 ** failures, HOUR_MS);
          expect(nextAt - partition.now).toBeGreaterThanOrEqual(delayMs);
          expect(nextAt - partition.now).toBeLessThanOrEqual(1.25 * delayMs);
          partition.now = nextAt;
        }
      }),
      { numRuns: 20 },
    );
  });

  test('it is given up 24 hours after it first failed, after a last try at that time', () => {
    const partition = ended('succeeded');
    const firstAt = partition.now;
    let { outcome, nextAt } = tried(partition, 'not_connected');
    while (outcome === 'failed') {
      expect(nextAt).toBeLessThanOrEqual(firstAt + 24 * HOUR_MS);
      partition.now = nextAt;
      ({ outcome, nextAt } = tried(partition, 'not_connected'));
    }

    expect(outcome).toBe('given_up');
    expect(partition.now).toBe(firstAt + 24 * HOUR_MS);
    expect([...partition.state.outbox.givenUp()]).toMatchObject([{ givenUpAt: partition.now }]);
    expect(owed(partition)).toEqual([]);
  });

  test.each<DeliveryFailure>(['gone', 'address_not_allowed', 'task_not_kept'])(
    '%s is no reason to try again',
    (failure) => {
      const partition = ended('succeeded');

      expect(tried(partition, failure)).toEqual({ outcome: 'given_up', nextAt: 0 });
    },
  );

  test.each([
    [30_000, 30_000],
    [0, 1000],
    [90 * HOUR_MS, HOUR_MS],
  ])('a receiver that wants %i ms of rest gets %i ms', (retryAfterMs, restMs) => {
    const partition = ended('succeeded');

    const { nextAt } = tried(partition, 'answered_with_error', { retryAfterMs });

    expect(nextAt).toBe(partition.now + restMs);
  });

  test('a result of one that was given up meanwhile changes nothing', () => {
    const partition = ended('succeeded');
    tried(partition, 'gone');

    expect(tried(partition, undefined).outcome).toBe('unknown');
    expect(partition.state.outbox.givenUpCount).toBe(1);
  });
});

describe('redelivery', () => {
  test('one that was given up has all its time again', () => {
    const partition = ended('succeeded');
    tried(partition, 'gone');
    partition.now += 30 * HOUR_MS;

    expect(redeliver(partition)).toEqual({ redelivered: 1, unknown: [], more: false });
    expect(partition.deliveries).toEqual([1]);
    expect(owed(partition)).toMatchObject([{ tries: 0, nextAt: partition.now, givenUpAt: 0 }]);
    expect(tried(partition, 'timed_out').outcome).toBe('failed');
  });

  test('one that waits for its next try is tried at once, when it is named', () => {
    const partition = ended('succeeded');
    tried(partition, 'timed_out');
    const id = deliveryIdText({ partition: 0, number: 1 });

    expect(redeliver(partition)).toMatchObject({ redelivered: 0 });
    expect(redeliver(partition, [id, id, 'c_nothing'])).toMatchObject({
      redelivered: 1,
      unknown: ['c_nothing'],
    });
    expect(owed(partition)).toMatchObject([{ nextAt: partition.now }]);
  });

  test('those of another namespace are not known', () => {
    const partition = ended('succeeded');
    tried(partition, 'gone');
    partition.namespace = 'other';
    const id = deliveryIdText({ partition: 0, number: 1 });

    expect(redeliver(partition, [id])).toMatchObject({ redelivered: 0, unknown: [id] });
    expect(redeliver(partition)).toMatchObject({ redelivered: 0 });
  });

  test('one command takes a thousand', () => {
    const limits = { tasksMax: 1200, callbacksMax: 1200, payloadBytesMax: 1_000_000 };
    const partition = new TestPartition(limits, { hashEvery: 10_000 });
    const callback = wanting(ALL_ENDS);
    partition.submit(...Array.from({ length: 1001 }, () => ({ callback, delayMs: 1 })));
    const ids = Array.from({ length: 1001 }, (_, n) => partition.id(n + 1));
    partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
    for (let number = 1; number <= 1001; number++) tried(partition, 'gone', { number });

    expect(redeliver(partition)).toMatchObject({ redelivered: 1000, more: true });
    expect(redeliver(partition)).toMatchObject({ redelivered: 1, more: false });
  });
});

describe('bounds', () => {
  test('with too much to deliver no more callbacks are promised; other tasks are taken', () => {
    const partition = ended('succeeded', { callbacksMax: 1 });

    const refused = partition.submit({ callback: wanting(ALL_ENDS) });
    const plain = partition.submit({});
    tried(partition, undefined);
    const taken = partition.submit({ callback: wanting(ALL_ENDS) });

    expect(refused.rejection).toBe('too_many_callbacks');
    expect([plain.slots.length, taken.slots.length]).toEqual([1, 1]);
  });

  test('those that were given up make way, and are counted', () => {
    const partition = ended('succeeded', { callbacksMax: 1 });
    tried(partition, 'gone');
    partition.submit({ callback: wanting(ALL_ENDS) });
    end(partition, 'failed', 2);

    partition.advance();

    expect(partition.state.outbox).toMatchObject({ pendingCount: 1, givenUpCount: 0, dropped: 1 });
  });

  test('what is owed takes memory', () => {
    const partition = new TestPartition();
    partition.submit({ callback: wanting(ALL_ENDS) });
    const before = partition.state.heldBytes;

    end(partition, 'cancelled');

    expect(partition.state.heldBytes).toBeGreaterThan(before);
  });
});

test('an id is that of its delivery, and nothing else is one', () => {
  fc.assert(
    fc.property(fc.nat(4095), fc.nat(2 ** 36 - 1), (partition, number) => {
      const text = deliveryIdText({ partition, number });
      expect(parseDeliveryId(text)).toEqual({ partition, number });
    }),
  );
  for (const text of ['', 'c_', 'c_000000000', 't_0000000001', 'c_000000000!', 'c_vvvvvvvvvv']) {
    expect(parseDeliveryId(text)).toBeUndefined();
  }
});

function wanting(on: string[]) {
  return { url: 'http://x/a', on };
}

/** A leased task with a callback. */
function leased({ on }: { on: string[] }) {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 1 });
  partition.submit({ callback: wanting(on) } satisfies TestTask);
  const [lease] = partition.leasesOf(session);
  return { partition, session, lease };
}

/** A task with a callback that ended in this way. */
function ended(
  how: 'succeeded' | 'failed' | 'cancelled',
  limits: ConstructorParameters<typeof TestPartition>[0] = {},
): TestPartition {
  const partition = new TestPartition(limits);
  partition.submit({ callback: wanting(ALL_ENDS) });
  end(partition, how);
  return partition;
}

function end(partition: TestPartition, how: 'succeeded' | 'failed' | 'cancelled', number = 1) {
  const id = partition.id(number);
  const payload = testUtf8.encode('1');
  if (how === 'cancelled') {
    partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [id], graceMs: 0 });
  } else {
    partition.operate<EndTask>({ type: 'end_task', id, outcome: how, payload });
  }
}

function tried(
  partition: TestPartition,
  failure: DeliveryFailure | undefined,
  { number = 1, retryAfterMs }: { number?: number; retryAfterMs?: number } = {},
) {
  return partition.operate<RecordDelivery>({
    type: 'record_delivery',
    delivery: number,
    failure: failure === undefined ? 0 : DELIVERY_FAILURES.indexOf(failure),
    status: 0,
    durationMs: 1,
    seed: partition.seed,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function redeliver(partition: TestPartition, ids?: string[]) {
  const named = ids === undefined ? {} : { ids };
  return partition.operate<RedeliverCallbacks>({ type: 'redeliver_callbacks', ...named });
}

function owed(partition: TestPartition): Delivery[] {
  return structuredClone([...partition.state.outbox.pending()]);
}

function statesOf(partition: TestPartition): string[] {
  return owed(partition).map(({ state }) => TASK_STATES[state]);
}
