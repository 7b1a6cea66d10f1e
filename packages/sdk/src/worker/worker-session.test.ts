import { LIMITS } from '@sluice/protocol/limits';
import { describe, expect, test } from 'vitest';
import { pushed, WorkerUnderTest } from '../testing/worker-under-test.ts';

const OFFER = {
  version: '1',
  types: [{ type: 'a', concurrency: 2 }],
  capacity: { slots: 3 },
  labels: { zone: 'eu' },
  leaseMs: 9000,
};

describe('opening', () => {
  test('the first request says what the worker offers, and resumes nothing', () => {
    const worker = new WorkerUnderTest(OFFER);

    expect(worker.http.streams).toHaveLength(1);
    expect(worker.stream.body).toEqual({ name: 'w', ...OFFER });
  });

  test('a session of an earlier process is resumed with what is left of it', () => {
    const tasks = [pushed('l_1'), pushed('l_2')];
    const adopted = { sessionId: 's_9', generation: 2, tasks };
    const worker = new WorkerUnderTest({ adopted, capacity: { slots: 1 } });

    expect(worker.runs.map(({ lease }) => lease)).toEqual(['l_1', 'l_2']);
    const { resume } = worker.stream.body;
    expect(resume).toMatchObject({ sessionId: 's_9', running: ['l_1', 'l_2'] });
    expect(resume.number).toBeGreaterThan(2 * 2 ** 30);
    worker.welcome({ resumed: true, lost: ['l_2'], sessionId: 's_9' });
    worker.session.log('l_1', 'a line');

    expect(worker.aborts).toEqual([{ lease: 'l_2', reason: { type: 'lease_lost' } }]);
    // The server ignores lines with a number that it has seen.
    const [{ seq }] = worker.request.body.reports;
    expect(seq).toBeGreaterThan(2 * 2 ** 30);
  });

  test('what is pushed is run', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');

    expect(worker.runs.map(({ lease }) => lease)).toEqual(['l_1', 'l_2']);
    expect(worker.notices).toEqual([
      { type: 'welcomed', sessionId: 's_1', resumed: false, address: 0 },
    ]);
  });

  test.each([
    [400, 'invalid_request'],
    [401, 'unauthenticated'],
    [403, 'forbidden'],
  ])('a server that answers %d before the first welcome ends the session', (status, code) => {
    const worker = new WorkerUnderTest();

    worker.stream.refuse(status, code);

    expect(worker.notices).toMatchObject([{ type: 'over', refusal: { status, code } }]);
    expect(worker.time.pending).toBe(0);
  });

  test('after a welcome it is tried again, whatever is answered', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.reconnect();

    worker.stream.refuse(401, 'unauthenticated');
    worker.time.advance(200);

    expect(worker.http.streams).toHaveLength(3);
  });

  test('an event before the welcome makes no sense: the stream is given up', () => {
    const worker = new WorkerUnderTest();

    worker.push(pushed('l_1'));

    expect(worker.stream.isClosed).toBe(true);
    expect(worker.runs).toEqual([]);
  });

  test('each stream begins with a welcome of its own', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.reconnect();

    worker.push(pushed('l_1'));

    expect(worker.stream.isClosed).toBe(true);
    expect(worker.runs).toEqual([]);
  });

  test('an event that is not JSON gives up the stream, and the next one resumes', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.stream.bytes('event: tasks\ndata: [{"id":\n\n');
    worker.time.advance(100);

    expect(worker.stream.body.resume).toEqual({ sessionId: 's_1', running: ['l_1'], number: 1 });
  });

  test.each([
    ['welcome', { sessionId: 's_1', heartbeatMs: 5000, leaseMs: 1, resumed: false }],
    ['welcome', { sessionId: 's_1', heartbeatMs: 0, leaseMs: 1, resumed: false, lost: [] }],
    ['tasks', { lease: 'l_1' }],
    ['tasks', [{ lease: 'l_1' }]],
    ['tasks', [null]],
    ['cancel', null],
    ['cancel', { lease: 'l_1' }],
    ['signal', 5],
  ])('an event %s that is not what its name says gives up the stream: %j', (name, data) => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.stream.push(name, data);

    expect(worker.stream.isClosed).toBe(true);
  });

  test('an event that is too large gives up the stream', () => {
    const worker = WorkerUnderTest.welcomed();

    worker.stream.bytes(`data: ${'x'.repeat(LIMITS.bodyBytesMax)}`);

    expect(worker.stream.isClosed).toBe(true);
    worker.time.advance(100);
    expect(worker.http.streams).toHaveLength(2);
  });

  test('events that nobody knows are passed over', () => {
    const worker = WorkerUnderTest.welcomed();

    worker.stream.push('novelty', { a: 1 });

    expect(worker.stream.isClosed).toBe(false);
  });
});

describe('resuming', () => {
  test('running lists every lease whose final report has not been answered', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3');
    worker.succeed('l_1');
    worker.request.answer({ outcomes: ['ok'] });
    worker.succeed('l_2');

    worker.reconnect();

    expect(worker.stream.body.resume).toEqual({
      sessionId: 's_1',
      running: ['l_2', 'l_3'],
      number: 1,
    });
  });

  test('handlers run on over a broken connection', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');

    worker.reconnect();
    worker.welcome({ resumed: true });

    expect(worker.aborts).toEqual([]);
    expect(worker.runs).toHaveLength(1);
  });

  test('each resume has a higher number, so that a late one undoes nothing', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    const numbers = [1, 2, 3].map(() => {
      worker.reconnect();
      worker.time.advance(1000);
      const { number } = worker.stream.body.resume;
      worker.welcome({ resumed: true });
      return number;
    });

    expect(numbers).toEqual([1, 2, 3]);
  });

  test('a lease pushed again after a resume starts no second handler (leases.one-handler)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.reconnect();
    worker.welcome({ resumed: true });

    worker.push(pushed('l_1'), pushed('l_2'));

    expect(worker.runs.map(({ lease }) => lease)).toEqual(['l_1', 'l_2']);
  });

  test('what is lost is aborted, and later reports are dropped (leases.lost-is-aborted)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.reconnect();

    worker.welcome({ resumed: true, lost: ['l_1'] });
    worker.session.progress('l_1', { fraction: 0.5 });
    worker.succeed('l_1');

    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: { type: 'lease_lost' } }]);
    expect(worker.requests).toEqual([]);
    worker.reconnect();
    expect(worker.stream.body.resume.running).toEqual(['l_2']);
  });

  test('what was still to be said of a lease is not said once it is lost', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3');
    for (const lease of ['l_1', 'l_2', 'l_3']) worker.session.heartbeat(lease);
    worker.reconnect();

    worker.welcome({ resumed: true, lost: ['l_3'] });
    worker.request.answer({ outcomes: ['ok'] });

    expect(worker.requests.map(({ body }) => body.reports[0].lease)).toEqual(['l_1', 'l_2']);
  });

  test('a lost lease that ended before keeps its final report (leases.lost-is-aborted)', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1', 7);
    worker.request.fail();
    worker.stream.end();
    worker.time.advance(50);

    worker.welcome({ resumed: true, lost: ['l_1'] });
    worker.time.advance(50);

    expect(worker.requests).toHaveLength(2);
    expect(worker.request.bodyText).toBe(worker.requests[0].bodyText);
    worker.request.answer({ outcomes: ['duplicate'] });
    expect(worker.outcomes).toEqual(['l_1 succeeded duplicate']);
    expect(worker.aborts).toEqual([]);
  });

  test('a session that the server forgot goes on under the id of the welcome', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.succeed('l_2');
    worker.reconnect();

    worker.welcome({ resumed: false, sessionId: 's_2', lost: ['l_1', 'l_2'] });
    worker.request.fail();
    worker.time.advance(50);

    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: { type: 'lease_lost' } }]);
    expect(worker.request.path).toBe('/v1/worker-sessions/s_2/reports');
    worker.request.answer({ outcomes: ['stale_lease'] });
    expect(worker.outcomes).toEqual(['l_2 succeeded stale_lease']);
  });

  test('a session that the server will not have is given up with what it held', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.reconnect();

    worker.stream.refuse(404, 'session_not_found');
    worker.time.advance(200);

    expect(worker.aborts).toEqual([{ lease: 'l_1', reason: { type: 'lease_lost' } }]);
    expect(worker.stream.body.resume).toBeUndefined();
    worker.session.changeCapacity({ slots: 1 });
    expect(worker.requests).toEqual([]);
  });

  test('session_not_found on a report opens a stream again, and nothing is sent until then', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2');
    worker.succeed('l_1');

    worker.request.refuse(404, 'session_not_found');
    worker.succeed('l_2');

    expect(worker.requests).toHaveLength(1);
    worker.time.advance(50);
    expect(worker.http.streams).toHaveLength(2);
    expect(worker.stream.body.resume).toMatchObject({ sessionId: 's_1', running: ['l_1', 'l_2'] });
    worker.welcome({ lost: ['l_1', 'l_2'] });
    expect(worker.request.body.reports).toHaveLength(2);
  });

  test('session_not_found for a session that was replaced meanwhile says nothing new', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1');
    worker.succeed('l_1');
    worker.reconnect();
    worker.welcome({ sessionId: 's_2', lost: ['l_1'] });

    worker.request.refuse(404, 'session_not_found');

    expect(worker.stream.isClosed).toBe(false);
    expect(worker.request.path).toBe('/v1/worker-sessions/s_2/reports');
  });

  test('more leases than a resume may list are not taken: they never arrived', () => {
    const worker = WorkerUnderTest.welcomed({ capacity: { slots: LIMITS.slotsMax } });
    const leases = Array.from({ length: LIMITS.slotsMax }, (_, index) => pushed(`l_${index}`));
    worker.push(...leases);

    worker.push(pushed('l_more'));

    expect(worker.runs).toHaveLength(LIMITS.slotsMax);
    expect(worker.stream.isClosed).toBe(true);
    worker.time.advance(50);
    expect(worker.stream.body.resume.running).toHaveLength(LIMITS.slotsMax);
  });
});

describe('the stream', () => {
  test('15 seconds without a byte: the worker connects again', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.time.advance(10_000);
    worker.stream.push('ping', {});
    worker.time.advance(14_999);
    expect(worker.stream.isClosed).toBe(false);

    worker.time.advance(1);

    expect(worker.http.streams[0].isClosed).toBe(true);
    worker.time.advance(100);
    expect(worker.http.streams).toHaveLength(2);
  });

  test('part of an event is bytes, too', () => {
    const worker = WorkerUnderTest.welcomed();
    worker.time.advance(14_000);

    worker.stream.bytes('event: ta');
    worker.time.advance(14_000);

    expect(worker.stream.isClosed).toBe(false);
  });

  test('a stream that never answers is given up, too', () => {
    const worker = new WorkerUnderTest();

    worker.time.advance(15_000);

    expect(worker.http.streams[0].isClosed).toBe(true);
  });

  test('what an older stream still brings does not count (worker-stream.one-open)', () => {
    const worker = WorkerUnderTest.welcomed();
    const [old] = worker.http.streams;
    worker.time.advance(15_100);
    worker.welcome({ resumed: true });

    old.push('tasks', [pushed('l_1')]);
    old.end();

    expect(worker.runs).toEqual([]);
    expect(worker.stream.isClosed).toBe(false);
    worker.time.advance(14_000);
    old.push('ping', {});
    worker.time.advance(1000);
    expect(worker.stream.isClosed).toBe(true);
  });

  test('drain: the worker connects elsewhere, and what runs goes on', () => {
    const worker = WorkerUnderTest.welcomed({ addresses: 3 }, 'l_1');

    worker.stream.bytes(
      `event: drain\ndata: {}\n\nevent: tasks\ndata: [${JSON.stringify(pushed('l_2'))}]\n\n`,
    );
    worker.time.advance(100);

    expect(worker.http.streams.map(({ address }) => address)).toEqual([0, 1]);
    expect(worker.stream.body.resume.running).toEqual(['l_1']);
    expect(worker.runs).toHaveLength(1);
    expect(worker.aborts).toEqual([]);
  });

  test('pauses grow with each round of the addresses, and a stable stream ends the row', () => {
    const worker = new WorkerUnderTest({ addresses: 2 });
    const pauses = () =>
      worker.notices.flatMap((notice) =>
        notice.type === 'disconnected' ? [notice.retryInMs] : [],
      );
    for (let i = 0; i < 5; i++) {
      worker.stream.end();
      worker.time.advance(10_000);
    }
    expect(pauses()).toEqual([50, 50, 100, 100, 200]);
    expect(worker.http.streams.map(({ address }) => address)).toEqual([0, 1, 0, 1, 0, 1]);

    worker.welcome();
    worker.time.advance(9999);
    worker.stream.end();
    worker.time.advance(1000);
    worker.welcome({ resumed: true });
    worker.time.advance(10_000);
    worker.stream.end();

    expect(pauses().slice(5)).toEqual([200, 50]);
  });

  test('Retry-After is obeyed, and the pause comes on top', () => {
    const worker = new WorkerUnderTest();

    worker.stream.refuse(429, 'overloaded', { retryAfter: '3' });

    expect(worker.notices).toEqual([
      { type: 'disconnected', why: 'overloaded by the test', retryInMs: 3050 },
    ]);
    worker.time.advance(3049);
    expect(worker.http.streams).toHaveLength(1);
    worker.time.advance(1);
    expect(worker.http.streams).toHaveLength(2);
  });
});
