import { expect, test } from 'vitest';
import { TestPartition } from '../../testing/test-partition.ts';

test('a delayed task waits until its time, not a millisecond less', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ delayMs: 500 });
  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'delayed' });

  partition.now += 499;
  partition.advance();
  expect(partition.heldBy(session)).toEqual([]);

  partition.now += 1;
  partition.advance();
  expect(partition.heldBy(session)).toEqual([1]);
});

test('a time that is over already is no delay', () => {
  const partition = new TestPartition();

  partition.submit({ runAt: partition.now }, { runAt: partition.now - 1 }, { delayMs: 0 });

  expect([1, 2, 3].map((number) => partition.task(number).state)).toEqual(Array(3).fill('queued'));
});

test('due tasks join the tails of their levels, earliest first', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 20 }, { delayMs: 10 }, {});
  partition.now += 30;
  partition.advance();

  const { session } = partition.attach({ slots: 3 });

  expect(partition.heldBy(session)).toEqual([3, 2, 1]);
});

test('a failed attempt is retried after its backoff, with the error kept until it succeeds', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { delayMs: 100, backoff: 'fixed', jitter: false } });
  const [first] = partition.leasesOf(session);

  partition.report(session, { lease: first, kind: 'failed', payload: '"no"' });
  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'backoff', attempt: 1 });
  expect(partition.task(1).dueAt).toBe(partition.now + 100);
  expect(partition.ended).toEqual([]);

  partition.now += 100;
  partition.advance();
  const [second] = partition.leasesOf(session);
  partition.report(session, { lease: second, kind: 'succeeded', payload: '"yes"' });
  expect(partition.task(1)).toMatchObject({ state: 'succeeded', attempt: 2 });
});

test('the last attempt that fails fails the task', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { maxAttempts: 2, delayMs: 0, jitter: false } });

  for (let attempt = 1; attempt <= 2; attempt++) {
    const [lease] = partition.leasesOf(session);
    partition.report(session, { lease, kind: 'failed' });
    partition.advance();
  }

  expect(partition.task(1)).toMatchObject({ state: 'failed', reason: 'failed', attempt: 2 });
});

test('a worker that says when is obeyed instead of the policy', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { delayMs: 100 } });
  const [lease] = partition.leasesOf(session);

  partition.report(session, { lease, kind: 'failed', retryAfterMs: 7777 });

  expect(partition.task(1).dueAt).toBe(partition.now + 7777);
});

test('the report of a failure again is a duplicate, before and after the retry is due', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { delayMs: 100, jitter: false } });
  const [lease] = partition.leasesOf(session);
  const report = { lease, kind: 'failed' } as const;
  partition.report(session, report);
  expect(partition.report(session, report).outcomes).toEqual(['duplicate']);
  partition.disconnect(session, 1);

  partition.now += 100;
  partition.advance();

  expect(partition.task(1).state).toBe('queued');
  expect(partition.report(session, report).outcomes).toEqual(['duplicate']);
});

test('timers and backoff survive a restart', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 5000 });
  partition.restart();

  partition.now += 5000;
  partition.advance();

  expect(partition.task(1)).toMatchObject({ state: 'queued', reason: 'due' });
});

test('more timers than one command fires are fired by the next', () => {
  const partition = new TestPartition({ tasksMax: 1100 });
  partition.submit(...Array.from({ length: 1001 }, () => ({ delayMs: 10 })));
  partition.now += 10;

  partition.advance();

  expect(partition.state.timers.count).toBe(0);
});
