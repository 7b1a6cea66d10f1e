import { LIMITS } from '@sluice/protocol/limits';
import { describe, expect, test } from 'vitest';
import { HEARTBEAT_MS, pushed, WALL_TIME, WorkerUnderTest } from '../testing/worker-under-test.ts';

describe('what is said', () => {
  test('a final report goes to the session, with when the handler started', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.succeed('l_1', { text: 'Ädä' });

    expect(worker.request).toMatchObject({
      address: 0,
      method: 'POST',
      path: '/v1/worker-sessions/s_1/reports',
    });
    const report = { lease: 'l_1', kind: 'succeeded', startedAt: WALL_TIME };
    expect(worker.request.body).toEqual({ reports: [{ ...report, output: { text: 'Ädä' } }] });
  });

  test('every way to end is told as it is', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3', 'l_4', 'l_5');
    const error = { message: 'no', code: 'E', stack: 'at x' };
    // The first two are sent at once; the rest gathers.
    worker.succeed('l_1');
    worker.session.finish('l_2', {
      kind: 'failed',
      error,
      retryable: false,
      retryAfterMs: 12.4,
    });
    worker.session.finish('l_3', { kind: 'cancelled' });
    worker.session.finish('l_4', { kind: 'later' });
    worker.session.finish('l_5', { kind: 'refused' });
    worker.request.answer({ outcomes: ['ok'] });

    const startedAt = WALL_TIME;
    const reports = worker.requests.flatMap((request) => request.body.reports);
    expect(reports).toEqual([
      { lease: 'l_1', kind: 'succeeded', startedAt, output: null },
      { lease: 'l_2', kind: 'failed', startedAt, error, retryable: false, retryAfterMs: 12 },
      { lease: 'l_3', kind: 'cancelled', startedAt },
      { lease: 'l_4', kind: 'later', startedAt },
      { lease: 'l_5', kind: 'refused' },
    ]);
  });

  test('a handler that runs for long is reported as started, a short one is not', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.time.advance(499);
    expect(worker.requests).toEqual([]);

    worker.time.advance(1);

    expect(worker.request.body).toEqual({ reports: [{ lease: 'l_1', kind: 'started' }] });
    worker.push(pushed('l_2'));
    worker.succeed('l_2');
    worker.time.advance(1000);
    expect(worker.requests).toHaveLength(2);
  });

  test('the first end of a lease counts', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.succeed('l_1', 1);
    worker.succeed('l_1', 2);
    worker.request.answer({ outcomes: ['ok'] });
    worker.succeed('l_1', 3);

    expect(worker.requests).toHaveLength(1);
    expect(worker.outcomes).toEqual(['l_1 succeeded ok']);
  });

  test('nothing is said of a lease that nobody has', () => {
    const worker = WorkerUnderTest.welcomed();

    worker.succeed('l_1');
    worker.session.progress('l_1', { fraction: 1 });
    worker.session.heartbeat('l_1');

    expect(worker.requests).toEqual([]);
  });
});

describe('until it is answered', () => {
  test('a final report is sent again in the same words, also after a server was restarted', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    const output = { counter: 1 };
    worker.succeed('l_1', output);
    output.counter = 2;

    worker.request.fail();
    worker.reconnect();
    worker.request.refuse(503, 'unavailable');
    worker.time.advance(100);
    worker.welcome({ resumed: true });
    worker.request.answer({ outcomes: ['ok'] });

    expect(worker.requests).toHaveLength(3);
    expect(new Set(worker.requests.map(({ bodyText }) => bodyText)).size).toBe(1);
    expect(worker.outcomes).toEqual(['l_1 succeeded ok']);
    worker.time.advance(60_000);
    expect(worker.requests).toHaveLength(3);
  });

  test('duplicate counts as done, and stale_lease is told', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3', 'l_4');
    for (const lease of ['l_1', 'l_2', 'l_3', 'l_4']) worker.succeed(lease);
    worker.requests[0].answer({ outcomes: ['ok'] });

    worker.request.answer({ outcomes: ['duplicate', 'stale_lease'] });

    expect(worker.outcomes).toEqual([
      'l_1 succeeded ok',
      'l_3 succeeded duplicate',
      'l_4 succeeded stale_lease',
    ]);
    worker.reconnect();
    expect(worker.stream.body.resume.running).toEqual(['l_2']);
  });

  test('an answer that comes twice, or too late, counts once (requests.settled-once)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1');
    const [first] = worker.requests;
    worker.time.advance(HEARTBEAT_MS + 100);
    expect(first.isCancelled).toBe(true);
    const again = worker.request;
    expect(again.bodyText).toBe(first.bodyText);

    again.answer({ outcomes: ['ok'] });
    again.answer({ outcomes: ['ok'] });
    first.answer({ outcomes: ['stale_lease'] });

    expect(worker.request).toBe(again);
    expect(worker.outcomes).toEqual(['l_1 succeeded ok']);
  });

  test('an answer that does not fit the question is none', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1');

    worker.request.answer({ outcomes: [] });
    worker.time.advance(100);
    worker.request.answer('<html>');
    worker.time.advance(200);

    expect(worker.requests).toHaveLength(3);
    expect(worker.outcomes).toEqual([]);
  });

  test('reports are sent while no stream is open, to the address that answers', () => {
    const worker = WorkerUnderTest.welcomed({ addresses: 2 }, 'l_1');
    worker.stream.end();

    worker.succeed('l_1');
    worker.request.fail();
    worker.time.advance(50);

    expect(worker.requests.map(({ address }) => address)).toEqual([0, 1]);
  });

  test('a welcome ends the pause behind a failure, not one that the server asked for', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1');
    worker.reconnect();
    worker.request.fail();

    worker.welcome({ resumed: true });

    expect(worker.requests).toHaveLength(2);
    worker.request.refuse(429, 'overloaded', { retryAfter: '2' });
    worker.reconnect();
    worker.welcome({ resumed: true });
    expect(worker.requests).toHaveLength(2);
  });

  test('an answer ends the pause after another request failed (requests.failure-pause)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3');
    worker.succeed('l_1');
    worker.succeed('l_2');
    const [first, second] = worker.requests;
    first.fail();
    worker.succeed('l_3');
    expect(worker.requests).toHaveLength(2);

    second.answer({ outcomes: ['ok'] });

    expect(worker.request.body.reports).toHaveLength(2);
  });

  test.each([
    [429, 'overloaded'],
    [503, 'unavailable'],
    [507, 'disk_full'],
  ])('%d with Retry-After is obeyed, by what gathers meanwhile too', (status, code) => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.succeed('l_1');

    worker.request.refuse(status, code, { retryAfter: '2' });
    worker.succeed('l_2');

    worker.time.advance(2049);
    expect(worker.requests).toHaveLength(1);
    worker.time.advance(1);
    expect(worker.request.body.reports).toHaveLength(2);
  });
});

describe('batches', () => {
  test('two in flight together that fail together are one failure (requests.failure-pause)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.succeed('l_1');
    worker.succeed('l_2');

    for (const request of worker.requests.slice()) request.fail();
    worker.time.advance(50);

    expect(worker.request.body.reports).toHaveLength(2);
  });

  test('two requests leave at once, the rest when one returns (requests.few-in-flight)', () => {
    const leases = ['l_1', 'l_2', 'l_3', 'l_4'];
    const worker = WorkerUnderTest.welcomed({}, ...leases);

    for (const lease of leases) worker.succeed(lease);

    expect(worker.requests).toHaveLength(2);
    worker.requests[1].answer({ outcomes: ['ok'] });
    expect(worker.requests).toHaveLength(3);
    const gathered = worker.request.body.reports as { lease: string }[];
    expect(gathered.map(({ lease }) => lease)).toEqual(['l_3', 'l_4']);
  });

  test('a lease with a report in flight waits, others do not (reports.lease-order)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.session.progress('l_1', { fraction: 0.5, message: 'half' });

    worker.succeed('l_1');
    worker.succeed('l_2');

    expect(worker.requests.map(({ body }) => body.reports[0].lease)).toEqual(['l_1', 'l_2']);
    worker.requests[0].answer({ outcomes: ['ok'] });
    expect(worker.request.body.reports).toMatchObject([{ lease: 'l_1', kind: 'succeeded' }]);
  });

  test('of progress the newest word is sent, and none behind an end (reports.final-last)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.session.heartbeat('l_1');
    worker.session.heartbeat('l_2');
    for (const fraction of [0.1, 0.2, 0.3]) {
      worker.session.progress('l_1', { fraction });
      worker.session.progress('l_2', { fraction });
    }
    worker.succeed('l_2');

    for (const request of worker.requests.slice(0, 2)) request.answer({ outcomes: ['ok'] });

    const said = worker.requests.slice(2).flatMap(({ body }) => body.reports);
    expect(said).toMatchObject([
      { lease: 'l_1', kind: 'progress', fraction: 0.3 },
      { lease: 'l_2', kind: 'succeeded' },
    ]);
  });

  test('progress that got no answer is sent again, unless there is a newer word', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.session.progress('l_1', { message: 'old' });
    worker.session.progress('l_2', { message: 'only' });
    worker.session.progress('l_1', { message: 'new' });

    for (const request of worker.requests.slice()) request.fail();
    worker.time.advance(100);

    expect(worker.request.body.reports).toMatchObject([{ message: 'new' }, { message: 'only' }]);
  });

  test('a fraction is brought between 0 and 1, and a message cut', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');

    worker.session.progress('l_1', { fraction: Number.NaN, message: 'x'.repeat(2000) });
    worker.session.progress('l_2', { fraction: 7 });

    expect(worker.requests[0].body.reports[0]).toMatchObject({ fraction: 0 });
    expect(worker.requests[0].body.reports[0].message).toHaveLength(1000);
    expect(worker.requests[1].body.reports[0]).toMatchObject({ fraction: 1 });
  });

  test('a request is bounded in reports (reports.bounded-batch)', () => {
    const slots = LIMITS.slotsMax;
    const worker = WorkerUnderTest.welcomed({ capacity: { slots } });
    const leases = Array.from({ length: slots }, (_, index) => `l_${index}`);
    worker.push(...leases.map((lease) => pushed(lease)));
    // Each has two reports to send once both requests have returned.
    for (const lease of leases) worker.session.progress(lease, { fraction: 1 });
    worker.time.advance(500);

    worker.requests[0].answer({ outcomes: ['ok'] });

    expect(worker.request.body.reports).toHaveLength(LIMITS.reportsMax);
    expect(worker.request.bodyText.length).toBeLessThan(LIMITS.bodyBytesMax);
  });

  test('a request is bounded in bytes of UTF-8 (reports.bounded-batch)', () => {
    const leases = Array.from({ length: 40 }, (_, index) => `l_${index}`);
    const worker = WorkerUnderTest.welcomed({}, ...leases);
    const output = 'ä'.repeat(120_000);
    for (const lease of leases) worker.succeed(lease, output);

    worker.requests[0].answer({ outcomes: ['ok'] });

    const bytes = new TextEncoder().encode(worker.request.bodyText).length;
    expect(bytes).toBeLessThan(LIMITS.bodyBytesMax);
    expect(bytes).toBeGreaterThan(LIMITS.bodyBytesMax - 300_000);
  });
});

describe('reports that the server cannot take', () => {
  test('an output that is a blob which is not there is a failure', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.finish('l_1', { kind: 'succeeded', outputBlob: 'c0ffee' });
    expect(worker.request.body.reports).toMatchObject([{ outputBlob: 'c0ffee' }]);

    worker.request.refuse(404, 'blob_not_found', { path: '/reports/0/outputBlob' });

    expect(worker.request.body.reports).toMatchObject([
      { lease: 'l_1', kind: 'failed', error: { code: 'report_refused' }, retryable: false },
    ]);
  });

  test('the one that is bad becomes a failure, and the others are sent again', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3', 'l_4');
    for (const lease of ['l_1', 'l_2', 'l_3', 'l_4']) worker.succeed(lease);
    worker.requests[0].answer({ outcomes: ['ok'] });
    worker.requests[1].answer({ outcomes: ['ok'] });

    worker.request.refuse(400, 'invalid_request', { path: '/reports/0/output' });

    const error = { code: 'report_refused', message: 'invalid_request by the test' };
    expect(worker.request.body.reports).toMatchObject([
      { lease: 'l_3', kind: 'failed', error, retryable: false },
      { lease: 'l_4', kind: 'succeeded' },
    ]);
    worker.request.refuse(400, 'invalid_request', { path: '/reports/0/error' });
    expect(worker.request.body.reports).toMatchObject([{ lease: 'l_4', kind: 'succeeded' }]);
    expect(worker.outcomes).toContain('l_3 failed invalid');
  });

  test('when nobody says which is bad, each is sent by itself', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3', 'l_4');
    for (const lease of ['l_1', 'l_2', 'l_3', 'l_4']) worker.succeed(lease);
    worker.requests[0].answer({ outcomes: ['ok'] });
    worker.requests[1].answer({ outcomes: ['ok'] });

    worker.request.refuse(413, 'payload_too_large');

    const alone = worker.requests.slice(3);
    expect(alone.map(({ body }) => body.reports)).toMatchObject([
      [{ lease: 'l_3', kind: 'succeeded' }],
      [{ lease: 'l_4', kind: 'succeeded' }],
    ]);
    alone[0].refuse(413, 'payload_too_large');
    alone[1].answer({ outcomes: ['ok'] });
    expect(worker.request.body.reports).toMatchObject([{ lease: 'l_3', kind: 'failed' }]);
    expect(worker.outcomes).toContain('l_4 succeeded ok');
  });

  test('a word of progress that is bad is forgotten', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.progress('l_1', { fraction: 0.5 });

    worker.request.refuse(400, 'invalid_request', { path: '/reports/0/fraction' });

    expect(worker.requests).toHaveLength(1);
    expect(worker.session).toBeDefined();
    worker.succeed('l_1');
    expect(worker.request.body.reports).toMatchObject([{ kind: 'succeeded' }]);
  });

  test('a lease that any report finds stale is lost, and its handler aborted', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.session.heartbeat('l_1');

    worker.request.answer({ outcomes: ['stale_lease'] });

    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: { type: 'lease_lost' } }]);
    worker.succeed('l_1');
    expect(worker.requests).toHaveLength(1);
  });
});
