import type { TaskRequest } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import { describe, expect, test } from 'vitest';
import { ClientUnderTest } from '../testing/client-under-test.ts';
import type { ScriptedRequest } from '../testing/scripted-http.ts';
import { type SubmitOutcome, Submitter, type SubmitterOptions } from './submitter.ts';

class SubmitterUnderTest extends ClientUnderTest {
  readonly submitter: Submitter;
  /** By the type of the first task of a call. */
  readonly outcomes: Record<string, SubmitOutcome> = {};

  constructor(options: Partial<SubmitterOptions> = {}) {
    super();
    this.submitter = new Submitter({ addresses: 1, ...options }, this);
  }

  submit(...tasks: (TaskRequest | string)[]): void {
    const requests = tasks.map((task) => (typeof task === 'string' ? { type: task } : task));
    this.submitter.submit(requests, (outcome) => {
      const { type } = requests[0] ?? { type: 'nothing' };
      if (type in this.outcomes) throw new Error(`${type} hears a second outcome`);
      this.outcomes[type] = outcome;
    });
  }
}

function typesIn({ body }: ScriptedRequest): string[] {
  return (body as TaskRequest[]).map(({ type }) => type);
}

/** Answers like a server that accepts everything. */
function accept(request: ScriptedRequest, deduplicated = false): void {
  const items = typesIn(request).map((type) => ({
    id: `t_${type}`,
    state: 'queued',
    deduplicated,
  }));
  request.answer({ items }, 201);
}

function submitted(...types: string[]): SubmitOutcome {
  const tasks = types.map((type) => ({ id: `t_${type}`, state: 'queued', deduplicated: false }));
  return { type: 'submitted', tasks };
}

describe('gathering', () => {
  test('two requests leave at once, the rest when one returns (requests.few-in-flight)', () => {
    const client = new SubmitterUnderTest();

    for (const type of ['a', 'b', 'c', 'd']) client.submit(type);

    expect(client.requests.map(typesIn)).toEqual([['a'], ['b']]);
    accept(client.requests[1]);
    expect(typesIn(client.request)).toEqual(['c', 'd']);
    accept(client.request);
    accept(client.requests[0]);
    expect(client.outcomes).toEqual({
      a: submitted('a'),
      b: submitted('b'),
      c: submitted('c'),
      d: submitted('d'),
    });
    expect(client.time.pending).toBe(0);
  });

  test('what is submitted in one turn leaves in one request (requests.few-in-flight)', () => {
    const client = new SubmitterUnderTest();
    client.isOneTurn = true;

    for (const type of ['a', 'b', 'c']) client.submit(type);
    expect(client.requests).toEqual([]);
    client.time.advance(0);

    expect(client.requests.map(typesIn)).toEqual([['a', 'b', 'c']]);
  });

  test('whoever never gives up has the longest window that there is', () => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: Number.POSITIVE_INFINITY });

    client.submit('a');

    expect(client.request.body[0].dedupeWindowMs).toBe(LIMITS.dedupeWindowMsMax);
  });

  test('the tasks of one call travel together (submit.whole-call)', () => {
    const client = new SubmitterUnderTest();
    const many = Array.from({ length: 240 }, (_, index) => `m${index}`);
    client.submit('a');
    client.submit('b');

    client.submit(...many);
    client.submit('c', 'd');
    client.submit(...Array.from({ length: 600 }, (_, index) => `x${index}`));
    accept(client.requests[0]);
    accept(client.requests[1]);

    const counts = client.requests.map((request) => typesIn(request).length);
    expect(counts).toEqual([1, 1, 242, 600]);
    accept(client.requests[2]);
    expect(client.outcomes.c).toEqual(submitted('c', 'd'));
  });

  test('a request is bounded in bytes of UTF-8', () => {
    const client = new SubmitterUnderTest();
    const input = 'ä'.repeat(100_000);
    for (let i = 0; i < 60; i++) client.submit({ type: `a${i}`, input });

    accept(client.requests[0]);

    const bytes = new TextEncoder().encode(client.request.bodyText).length;
    expect(bytes).toBeLessThanOrEqual(LIMITS.bodyBytesMax);
    expect(bytes).toBeGreaterThan(LIMITS.bodyBytesMax - 250_000);
  });

  test('beyond what may wait, a call fails at once (submit.one-outcome)', () => {
    const pending = { tasksMax: 3, bytesMax: 1000 };
    const client = new SubmitterUnderTest({ pending });
    client.submit('a', 'b');

    client.submit('c', 'd');
    client.submit({ type: 'e', input: 'x'.repeat(1000) });
    client.submit('f');

    const refused = { type: 'refused', refusal: { status: 429, code: 'overloaded' } };
    expect(client.outcomes).toMatchObject({ c: refused, e: refused });
    accept(client.requests[0]);
    client.submit('g');
    expect(client.outcomes).not.toHaveProperty('g');
  });
});

describe('once and only once', () => {
  test('a task without a dedupe key gets one, another one for each (submit.stored-once)', () => {
    const client = new SubmitterUnderTest();

    client.submit('a', 'a', { type: 'a', dedupeKey: 'mine' });

    const [first, second, third] = client.request.body as TaskRequest[];
    expect(first.dedupeKey).toMatch(/^sdk\.[0-9a-z.]{8,}$/);
    expect(second.dedupeKey).not.toBe(first.dedupeKey);
    expect(third).toEqual({ type: 'a', dedupeKey: 'mine' });
  });

  test('the key is remembered for longer than the task is sent', () => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: 5000, answerWithinMs: 1000 });

    client.submit('a');

    expect(client.request.body[0].dedupeWindowMs).toBeGreaterThan(6000);
  });

  test('after a broken connection the same bytes are sent to the next address', () => {
    const client = new SubmitterUnderTest({ addresses: 2 });
    client.submit('a');

    client.request.fail();
    client.time.advance(100);
    accept(client.request, true);

    expect(client.requests.map(({ address }) => address)).toEqual([0, 1]);
    expect(client.requests[1].bodyText).toBe(client.requests[0].bodyText);
    expect(client.outcomes).toEqual({ a: submitted('a') });
  });

  test('a request that hangs is sent again, and its late answer does not count', () => {
    const client = new SubmitterUnderTest();
    client.submit('a');
    const [first] = client.requests;

    client.time.advance(5100);
    accept(client.request);
    accept(first);

    expect(client.requests).toHaveLength(2);
    expect(first.isCancelled).toBe(true);
    expect(client.outcomes).toEqual({ a: submitted('a') });
  });

  test('a key of the caller tells the caller that the task was there before', () => {
    const client = new SubmitterUnderTest();
    client.submit({ type: 'a', dedupeKey: 'mine' });

    accept(client.request, true);

    expect(client.outcomes.a).toMatchObject({ tasks: [{ deduplicated: true }] });
  });

  test('an answer that does not fit the question is none', () => {
    const client = new SubmitterUnderTest();
    client.submit('a', 'b');

    client.request.answer({ items: [{ id: 't_1', state: 'queued', deduplicated: false }] }, 201);
    client.time.advance(100);

    expect(client.requests).toHaveLength(2);
    expect(client.outcomes).toEqual({});
  });
});

describe('refusals', () => {
  test.each([
    [429, 'overloaded'],
    [503, 'unavailable'],
    [507, 'disk_full'],
  ])('%d with Retry-After is obeyed, by what gathers meanwhile too', (status, code) => {
    const client = new SubmitterUnderTest();
    client.submit('a');

    client.request.refuse(status, code, { retryAfter: '2' });
    client.submit('b');

    client.time.advance(2049);
    expect(client.requests).toHaveLength(1);
    client.time.advance(1);
    expect(typesIn(client.request)).toEqual(['a', 'b']);
  });

  test('a bad call hears why, by its own index; the others go again (submit.whole-call)', () => {
    const client = new SubmitterUnderTest();
    for (const type of ['x', 'y']) client.submit(type);
    client.submit('a', 'b');
    client.submit('c', 'd');
    client.submit('e');
    accept(client.requests[0]);

    client.request.refuse(400, 'invalid_request', { path: '/3/type' });

    expect(client.outcomes.c).toMatchObject({
      type: 'refused',
      refusal: { status: 400, code: 'invalid_request', details: [{ path: '/1/type' }] },
    });
    expect(typesIn(client.request)).toEqual(['a', 'b', 'e']);
    accept(client.request);
    expect(client.outcomes).toMatchObject({ a: submitted('a', 'b'), e: submitted('e') });
  });

  test('when nobody says who is to blame, each call goes by itself', () => {
    const client = new SubmitterUnderTest();
    for (const type of ['x', 'y', 'a', 'b', 'c']) client.submit(type);
    accept(client.requests[0]);

    client.request.refuse(413, 'payload_too_large');
    const alone = client.requests.slice(3);
    alone[0].refuse(413, 'payload_too_large');
    accept(client.request);

    expect(client.outcomes.a).toMatchObject({ type: 'refused', refusal: { status: 413 } });
    expect(client.outcomes.b).toEqual(submitted('b'));
    expect(client.requests.slice(3).map(typesIn)).toEqual([['a'], ['b'], ['c']]);
  });

  test('a key that was used with another input is the fault of one call', () => {
    const client = new SubmitterUnderTest();
    client.submit('a');

    client.request.refuse(409, 'dedupe_mismatch', { path: '/0/dedupeKey' });

    expect(client.outcomes.a).toMatchObject({ refusal: { code: 'dedupe_mismatch' } });
    expect(client.time.pending).toBe(0);
  });

  test('a client that may not submit hears it for every call', () => {
    const client = new SubmitterUnderTest();
    for (const type of ['x', 'y', 'a', 'b']) client.submit(type);
    accept(client.requests[0]);

    client.request.refuse(401, 'unauthenticated');

    const refused = { type: 'refused', refusal: { code: 'unauthenticated' } };
    expect(client.outcomes).toMatchObject({ a: refused, b: refused });
  });

  test.each([
    ['nothing', [], 400],
    ['a', Array.from({ length: LIMITS.batchTasksMax + 1 }, () => ({ type: 'a' })), 400],
    ['a', [{ type: 'a', input: 1n }], 400],
    ['a', Array.from({ length: 18 }, () => ({ type: 'a', input: 'x'.repeat(250_000) })), 413],
  ])('a call that no server could take is refused without one', (type, tasks, status) => {
    const client = new SubmitterUnderTest();

    client.submit(...tasks);

    expect(client.outcomes[type]).toMatchObject({ type: 'refused', refusal: { status } });
    expect(client.requests).toEqual([]);
  });
});

describe('an input that is too big for a request', () => {
  test.each([
    ['by a byte', 'x'.repeat(LIMITS.payloadBytesMax - 1), [1]],
    ['by characters of two bytes', 'ä'.repeat(LIMITS.payloadBytesMax / 2), [1]],
    ['but for a byte', 'x'.repeat(LIMITS.payloadBytesMax - 2), undefined],
  ])('%s is told by its place at once, and nothing is sent', (_, input, places) => {
    const client = new SubmitterUnderTest();

    client.submit({ type: 'a', input: 1 }, { type: 'a', input });

    expect(client.outcomes.a).toEqual(places && { type: 'large', places });
    expect(client.requests).toHaveLength(places === undefined ? 1 : 0);
  });

  test('is not blamed for the tasks that it shares a request with', () => {
    const client = new SubmitterUnderTest();
    for (const type of ['x', 'y', 'a']) client.submit(type);
    client.submit({ type: 'b', inputBlob: 'c0ffee' });
    accept(client.requests[0]);

    client.request.refuse(404, 'blob_not_found', { path: '/1/inputBlob' });

    const refusal = { code: 'blob_not_found', details: [{ path: '/0/inputBlob' }] };
    expect(client.outcomes.b).toMatchObject({ type: 'refused', refusal });
    expect(client.outcomes).not.toHaveProperty('a');
  });
});

describe('giving up', () => {
  test('a call that nobody answers ends as unknown, since it may be stored', () => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: 1000 });
    client.submit('a');
    client.request.fail();

    client.time.advance(60);
    client.request.refuse(503, 'unavailable', { retryAfter: '60' });
    client.time.advance(939);
    expect(client.outcomes).toEqual({});
    client.time.advance(1);

    expect(client.outcomes).toEqual({ a: { type: 'unknown' } });
    client.time.advance(100_000);
    expect(client.requests).toHaveLength(2);
  });

  test.each([500, 503, 504])('a server that failed with %i may have stored it', (status) => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: 1000 });
    client.submit('a');

    client.request.refuse(status, 'unavailable', { retryAfter: '60' });
    client.time.advance(1000);

    expect(client.outcomes).toEqual({ a: { type: 'unknown' } });
  });

  test('a call that was only ever refused is known not to be stored', () => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: 1000 });
    client.submit('a');

    client.request.refuse(429, 'overloaded', { retryAfter: '60' });
    client.time.advance(1000);

    expect(client.outcomes.a).toMatchObject({ type: 'refused', refusal: { code: 'overloaded' } });
  });

  test('a call made when another fails waits for the pause, too (requests.failure-pause)', () => {
    const client = new SubmitterUnderTest({ giveUpAfterMs: 1000, answerWithinMs: 2000 });
    client.submitter.submit([{ type: 'a' }], () => client.submit('b'));

    client.time.advance(2000);
    expect(client.requests).toHaveLength(1);
    client.time.advance(50);

    expect(client.requests.map(typesIn)).toEqual([['a'], ['b']]);
  });

  test('whoever waits when it is closed hears of it, and whoever comes later', () => {
    const client = new SubmitterUnderTest();
    for (const type of ['a', 'b', 'c']) client.submit(type);

    client.submitter.close();
    accept(client.request);
    client.submit('late');
    client.time.advance(100_000);

    const closed = { type: 'closed' };
    expect(client.outcomes).toEqual({ a: closed, b: closed, c: closed, late: closed });
    expect(client.requests).toHaveLength(2);
    expect(client.time.pending).toBe(0);
  });
});
