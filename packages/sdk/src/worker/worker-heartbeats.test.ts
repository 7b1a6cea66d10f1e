import { expect, test } from 'vitest';
import { HEARTBEAT_MS, pushed, WorkerUnderTest } from '../testing/worker-under-test.ts';

/** The worker sends no `started` reports by itself. */
const QUIET = { times: { startedAfterMs: 1e9 } };

test('a worker with leases and no news sends an empty request (heartbeat.never-silent)', () => {
  const worker = WorkerUnderTest.welcomed(QUIET);
  worker.time.advance(4000);
  worker.push(pushed('l_1'));
  worker.time.advance(HEARTBEAT_MS - 1);
  expect(worker.requests).toEqual([]);

  worker.time.advance(1);

  expect(worker.request.body).toEqual({});
  worker.request.answer({ outcomes: [] });
  worker.time.advance(HEARTBEAT_MS - 1);
  expect(worker.requests).toHaveLength(1);
  worker.time.advance(1);
  expect(worker.requests).toHaveLength(2);
});

test('any request renews: an empty one follows a while after it', () => {
  const worker = WorkerUnderTest.welcomed(QUIET, 'l_1');
  worker.time.advance(3000);
  worker.session.heartbeat('l_1');
  worker.request.answer({ outcomes: ['ok'] });

  worker.time.advance(HEARTBEAT_MS - 1);
  expect(worker.requests).toHaveLength(1);
  worker.time.advance(1);

  expect(worker.request.body).toEqual({});
});

test('a session without leases sends none', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1');
  worker.succeed('l_1');
  worker.request.answer({ outcomes: ['ok'] });

  for (let i = 0; i < 10; i++) {
    worker.time.advance(10_000);
    worker.stream.push('ping', {});
  }

  expect(worker.requests).toHaveLength(1);
});

test('one that got no answer is followed by another one soon', () => {
  const worker = WorkerUnderTest.welcomed(QUIET, 'l_1');
  worker.time.advance(HEARTBEAT_MS);

  worker.request.fail();
  worker.time.advance(50);

  expect(worker.requests).toHaveLength(2);
  expect(worker.request.body).toEqual({});
});

test('they go on while the stream is broken', () => {
  const worker = WorkerUnderTest.welcomed(QUIET, 'l_1');
  worker.stream.end();

  worker.time.advance(HEARTBEAT_MS);

  expect(worker.request.body).toEqual({});
});

test('a request that hangs is given up before a lease is over', () => {
  const worker = WorkerUnderTest.welcomed(QUIET, 'l_1');

  worker.time.advance(HEARTBEAT_MS * 2 + 100);

  expect(worker.requests[0].isCancelled).toBe(true);
  expect(worker.requests.length).toBeGreaterThan(1);
});
