import { describe, expect, test } from 'vitest';
import { pushed, WorkerUnderTest } from '../testing/worker-under-test.ts';

function leasesOf(worker: WorkerUnderTest): string[] {
  return worker.runs.map(({ lease }) => lease);
}

describe('stopping a handler', () => {
  test.each([
    ['cancelled', 'cancelled'],
    ['ended_outside', 'cancelled'],
    ['run_timeout', 'timed_out'],
    ['heartbeat_timeout', 'timed_out'],
    ['total_timeout', 'timed_out'],
  ])('cancel for the reason %s aborts the handler as %s, with its grace', (reason, type) => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.stream.push('cancel', { id: 't_l_1', lease: 'l_1', graceMs: 700, reason });

    const abort = { type, graceMs: 700, reason };
    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: abort }]);
  });

  test('the end is the handler’s to say and the server’s to decide', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    for (const lease of ['l_1', 'l_2']) {
      worker.stream.push('cancel', { id: '', lease, graceMs: 10, reason: 'cancelled' });
    }
    worker.time.advance(400);

    worker.succeed('l_1', 1);
    worker.session.finish('l_2', { kind: 'cancelled' });

    const reports = worker.requests.flatMap(({ body }) => body.reports);
    expect(reports).toMatchObject([
      { lease: 'l_1', kind: 'succeeded' },
      { lease: 'l_2', kind: 'cancelled' },
    ]);
  });

  test('a cancel that is told again after a resume aborts once', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    const notice = { id: 't_l_1', lease: 'l_1', graceMs: 700, reason: 'cancelled' };
    worker.stream.push('cancel', notice);
    worker.reconnect();
    worker.welcome({ resumed: true });

    worker.stream.push('cancel', notice);

    expect(worker.aborts).toHaveLength(1);
  });

  test('a cancel for a handler that has ended is too late', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1');

    const notice = { id: 't_l_1', lease: 'l_1', graceMs: 700, reason: 'cancelled' };
    worker.stream.push('cancel', notice);

    expect(worker.aborts).toEqual([]);
  });

  test('a handler that runs for too long is aborted if the server does not say so in time', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.push(pushed('l_1', { runTimeoutMs: 3000 }), pushed('l_2', { runTimeoutMs: 3000 }));
    worker.stream.end();
    worker.succeed('l_2');

    worker.time.advance(3999);
    expect(worker.aborts).toEqual([]);
    worker.time.advance(1);

    const reason = { type: 'timed_out', graceMs: 9000, reason: 'run_timeout' };
    expect(worker.aborts).toEqual([{ lease: 'l_1', reason }]);
  });

  test('a time-out of months is left to the server', () => {
    const worker = WorkerUnderTest.welcomed();
    const before = worker.time.pending;
    worker.push(pushed('l_1', { runTimeoutMs: 2 ** 31 - 1001 }));
    const withTimeout = worker.time.pending;

    worker.push(pushed('l_2', { runTimeoutMs: 2 ** 31 }));

    expect(worker.time.pending).toBe(withTimeout);
    expect(withTimeout).toBeGreaterThan(before);
  });

  test('a signal reaches the handler that runs, and nobody else', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.succeed('l_2');

    for (const lease of ['l_1', 'l_2', 'l_3']) {
      worker.stream.push('signal', { id: 't', lease, name: 'poke', data: { a: 1 } });
    }

    expect(worker.signals).toEqual([{ lease: 'l_1', name: 'poke', data: { a: 1 } }]);
  });
});

test('a signal that is sent again under one lease is heard once', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');

  for (const lease of ['l_1', 'l_1', 'l_2']) {
    worker.stream.push('signal', { id: 't', lease, name: 'poke', data: null, key: 'k_1' });
  }
  worker.stream.push('signal', { id: 't', lease: 'l_1', name: 'poke', data: null, key: 'k_2' });

  expect(worker.signals.map(({ lease }) => lease)).toEqual(['l_1', 'l_2', 'l_1']);
});

describe('room', () => {
  test('a push beyond what the worker can take is refused after a while', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 1 } }, 'l_1', 'l_2');
    expect(leasesOf(worker)).toEqual(['l_1']);
    worker.time.advance(999);
    expect(worker.requests.flatMap(({ body }) => body.reports)).toMatchObject([
      { kind: 'started' },
    ]);

    worker.time.advance(1);

    expect(worker.request.body.reports).toEqual([{ lease: 'l_2', kind: 'refused' }]);
    expect(leasesOf(worker)).toEqual(['l_1']);
  });

  test('one that waits runs as soon as there is room, the oldest that fits first', () => {
    const options = { capacity: { slots: 2 }, times: { startedAfterMs: 1e9 } };
    const worker = WorkerUnderTest.welcomed(options, 'l_1', 'l_2');
    const big = pushed('l_big', { resources: { slots: 2 } });
    worker.push(big, pushed('l_3'), pushed('l_4'));

    worker.succeed('l_1');

    expect(leasesOf(worker)).toEqual(['l_1', 'l_2', 'l_3']);
    worker.succeed('l_2');
    expect(leasesOf(worker)).toEqual(['l_1', 'l_2', 'l_3', 'l_4']);
    worker.request.answer({ outcomes: ['ok'] });
    worker.time.advance(1000);
    expect(worker.requests.flatMap(({ body }) => body.reports)).toContainEqual({
      lease: 'l_big',
      kind: 'refused',
    });
  });

  test('a handler whose lease is lost uses room until it ends (leases.room-until-end)', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 1 } }, 'l_1');
    worker.reconnect();
    worker.welcome({ resumed: true, lost: ['l_1'] });

    worker.push(pushed('l_2'));
    expect(leasesOf(worker)).toEqual(['l_1']);
    worker.session.finish('l_1', { kind: 'cancelled' });

    expect(leasesOf(worker)).toEqual(['l_1', 'l_2']);
    expect(worker.requests).toEqual([]);
  });

  test('one that waits is listed at a resume, and can be cancelled or lost before it runs', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 1 } }, 'l_1', 'l_2', 'l_3');
    worker.reconnect();
    expect(worker.stream.body.resume.running).toEqual(['l_1', 'l_2', 'l_3']);

    worker.welcome({ resumed: true, lost: ['l_2'] });
    worker.stream.push('cancel', { id: '', lease: 'l_3', graceMs: 1, reason: 'cancelled' });

    expect(worker.aborts).toEqual([]);
    expect(worker.request.body.reports).toEqual([{ lease: 'l_3', kind: 'cancelled' }]);
    worker.succeed('l_1');
    expect(leasesOf(worker)).toEqual(['l_1']);
  });

  test('a new capacity is sent at once, and counts at once', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: 1 } }, 'l_1', 'l_2');

    worker.session.changeCapacity({ slots: 2 });

    expect(worker.request.body).toEqual({ capacity: { slots: 2 } });
    expect(leasesOf(worker)).toEqual(['l_1', 'l_2']);
    worker.reconnect();
    expect(worker.stream.body.capacity).toEqual({ slots: 2 });
  });

  test('a type that is not available for now is told with its reason, until it is', () => {
    const unavailable = new Map([['a', 'the engine is away']]);
    const worker = WorkerUnderTest.welcomed({ unavailable });
    expect(worker.stream.body.types).toEqual([{ type: 'a', unavailable: 'the engine is away' }]);

    worker.session.changeUnavailable(new Map());
    worker.session.changeCapacity({ slots: 2 });

    expect(worker.request.body).toEqual({ types: [{ type: 'a' }] });
    worker.request.answer({ outcomes: [] });
    expect(worker.request.body).toMatchObject({ capacity: { slots: 2 } });
    worker.reconnect();
    expect(worker.stream.body.types).toEqual([{ type: 'a' }]);
  });

  test('two capacities are never in flight together, and the newest is the last', () => {
    const worker = WorkerUnderTest.welcomed();
    for (const slots of [1, 2, 3]) worker.session.changeCapacity({ slots });
    expect(worker.requests).toHaveLength(1);

    worker.request.answer({ outcomes: [] });

    expect(worker.requests).toHaveLength(2);
    expect(worker.request.body).toEqual({ capacity: { slots: 3 } });
    worker.request.fail();
    worker.time.advance(100);
    expect(worker.request.body).toEqual({ capacity: { slots: 3 } });
    worker.request.answer({ outcomes: [] });
    expect(worker.requests).toHaveLength(3);
  });

  test('what the worker uses is sent, and again to a server that was started again', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.session.tellUse({ cpu: 1.5, slots: 1 });

    expect(worker.request.body).toEqual({ measured: { cpu: 1.5, slots: 1 } });
    worker.request.answer({ outcomes: [] });
    worker.reconnect();
    worker.welcome();
    expect(worker.request.body).toEqual({ measured: { cpu: 1.5, slots: 1 } });
  });

  test('a server that does not know what a worker uses hears no more of it', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.tellUse({ slots: 1 });

    worker.request.refuse(400, 'invalid_request', { path: '/measured' });
    worker.session.tellUse({ slots: 2 });
    worker.succeed('l_1');

    expect(worker.request.body).toMatchObject({ reports: [{ lease: 'l_1' }] });
    expect(worker.request.body.measured).toBeUndefined();
  });

  test('a capacity that the server cannot take is told, and reports do not suffer', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.changeCapacity({ cpu: 0.00001 });
    worker.session.changeCapacity({ cpu: 0.00002 });
    worker.requests[0].answer({ outcomes: [] });

    worker.request.refuse(400, 'invalid_request', { path: '/capacity/cpu' });
    worker.succeed('l_1');

    expect(worker.notices.at(-1)).toMatchObject({ type: 'offer_refused' });
    expect(worker.request.body).toMatchObject({ reports: [{ lease: 'l_1' }] });
    expect(worker.request.body.capacity).toBeUndefined();
  });
});
