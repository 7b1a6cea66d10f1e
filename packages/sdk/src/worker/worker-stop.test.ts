import { describe, expect, test } from 'vitest';
import { pushed, WorkerUnderTest } from '../testing/worker-under-test.ts';

const GRACE_MS = 30_000;

/** Answers the newest request as if everything in it was accepted. */
function answerAll(worker: WorkerUnderTest): void {
  const { request } = worker;
  request.answer({ outcomes: (request.body.reports ?? []).map(() => 'ok') });
}

describe('a graceful stop', () => {
  test('offers nothing, lets handlers end and leaves once answered (session.answered-stop)', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 4, cpu: 2 } }, 'l_1');

    worker.session.stop(GRACE_MS);

    expect(worker.request.body).toEqual({ capacity: { slots: 0, cpu: 2 } });
    answerAll(worker);
    expect(worker.stream.isClosed).toBe(false);
    worker.succeed('l_1', 7);
    expect(worker.request.body.reports).toMatchObject([{ lease: 'l_1', kind: 'succeeded' }]);
    worker.request.fail();
    worker.time.advance(100);
    expect(worker.request.method).toBe('POST');
    answerAll(worker);
    expect(worker.stream.isClosed).toBe(true);
    expect(worker.request).toMatchObject({ method: 'DELETE', path: '/v1/worker-sessions/s_1' });
    expect(worker.notices.at(-1)).not.toMatchObject({ type: 'over' });
    worker.request.answer(undefined, 204);
    expect(worker.notices.at(-1)).toEqual({ type: 'over' });
    expect(worker.time.pending).toBe(0);
  });

  test('who holds nothing does not wait long for a server that is gone', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.stream.end();
    worker.session.stop(GRACE_MS);
    for (const request of worker.requests) request.fail();

    worker.time.advance(1999);
    expect(worker.notices.at(-1)).not.toMatchObject({ type: 'over' });
    worker.time.advance(1);

    expect(worker.notices.at(-1)).toEqual({ type: 'over' });
    expect(worker.time.pending).toBe(0);
  });

  test('who has something to report waits for the server as long as it may', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.stream.end();
    worker.session.stop(GRACE_MS);
    worker.succeed('l_1');

    worker.time.advance(10_000);

    expect(worker.notices.at(-1)).not.toMatchObject({ type: 'over' });
  });

  test('refuses what still comes, and what waits for room', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 1 } }, 'l_1', 'l_2');
    worker.session.stop(GRACE_MS);

    worker.push(pushed('l_3'));
    answerAll(worker);

    expect(worker.requests.flatMap(({ body }) => body.reports ?? [])).toEqual([
      { lease: 'l_2', kind: 'refused' },
      { lease: 'l_3', kind: 'refused' },
    ]);
    expect(worker.runs).toHaveLength(1);
    worker.succeed('l_1');
    expect(worker.runs).toHaveLength(1);
  });

  test('hands back after its grace what still runs, and aborts it', () => {
    const worker = WorkerUnderTest.welcomed({ times: { startedAfterMs: 1e9 } }, 'l_1', 'l_2');
    worker.session.stop(1000);
    answerAll(worker);
    worker.succeed('l_2');
    worker.time.advance(999);
    expect(worker.aborts).toEqual([]);

    worker.time.advance(1);

    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: { type: 'stopping' } }]);
    expect(worker.request.method).toBe('POST');
    answerAll(worker);
    expect(worker.request.method).toBe('DELETE');
  });

  test.each([
    ['cancelled', { kind: 'cancelled' } as const, 0],
    ['failed', { kind: 'failed', error: { message: 'aborted' } } as const, 0],
    ['succeeded', { kind: 'succeeded' } as const, 1],
    ['failed for good', { kind: 'failed', error: { message: 'no' }, retryable: false } as const, 1],
    [
      'to be retried later',
      { kind: 'failed', error: { message: 'x' }, retryAfterMs: 9 } as const,
      1,
    ],
  ])('what ends after the grace as %s is reported or handed back', (_, ending, count) => {
    const worker = WorkerUnderTest.welcomed({ times: { startedAfterMs: 1e9 } }, 'l_1', 'l_2');
    worker.session.stop(1000);
    answerAll(worker);
    worker.succeed('l_2');
    worker.time.advance(1000);

    worker.session.finish('l_1', ending);

    const reports = worker.requests.flatMap(({ body }) => body.reports ?? []);
    expect(reports.filter(({ lease }: { lease: string }) => lease === 'l_1')).toHaveLength(count);
    worker.reconnect();
    expect(worker.stream.body.resume.running).toEqual(['l_1', 'l_2']);
  });

  test('comes back for what runs when the connection breaks, and still offers nothing', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 2 } }, 'l_1');
    worker.session.stop(GRACE_MS);

    worker.reconnect();

    expect(worker.stream.body).toMatchObject({
      capacity: { slots: 0 },
      resume: { running: ['l_1'] },
    });
  });

  test('an idle worker leaves once its offer is withdrawn', () => {
    const worker = WorkerUnderTest.welcomed();

    worker.session.stop(GRACE_MS);
    answerAll(worker);
    worker.request.refuse(404, 'session_not_found');

    expect(worker.notices.at(-1)).toEqual({ type: 'over' });
  });

  test('a worker that was never welcomed has nothing to leave', () => {
    const worker = new WorkerUnderTest();

    worker.session.stop(GRACE_MS);

    expect(worker.stream.isClosed).toBe(true);
    expect(worker.requests).toEqual([]);
    expect(worker.notices).toEqual([{ type: 'over' }]);
    expect(worker.time.pending).toBe(0);
  });

  test('a server that does not hear the farewell is not waited for without end', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.session.stop(GRACE_MS);
    answerAll(worker);

    for (let i = 0; i < 3; i++) {
      expect(worker.request.method).toBe('DELETE');
      worker.request.fail();
      worker.time.advance(1000);
    }

    expect(worker.requests).toHaveLength(4);
    expect(worker.notices.at(-1)).toEqual({ type: 'over' });
  });

  test('a second stop, and a new capacity, change nothing', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.stop(GRACE_MS);
    answerAll(worker);

    worker.session.stop(0);
    worker.session.changeCapacity({ slots: 5 });
    worker.time.advance(400);

    expect(worker.requests).toHaveLength(1);
    expect(worker.aborts).toEqual([]);
  });
});

test('an abandoned session does nothing more, whatever comes', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
  worker.succeed('l_1');

  worker.session.abandon();
  worker.request.fail();
  worker.push(pushed('l_3'));
  worker.stream.end();
  worker.succeed('l_2');
  worker.session.stop(0);
  worker.time.advance(100_000);

  expect(worker.requests).toHaveLength(1);
  expect(worker.http.streams).toHaveLength(1);
  expect(worker.runs).toHaveLength(2);
  expect(worker.time.pending).toBe(0);
  expect(worker.notices).toHaveLength(1);
});
