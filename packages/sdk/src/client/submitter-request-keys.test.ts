import type { TaskRequest } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { ClientUnderTest } from '../testing/client-under-test.ts';
import type { ScriptedRequest } from '../testing/scripted-http.ts';
import { type SubmitOutcome, Submitter, type SubmitterOptions } from './submitter.ts';

/** A client whose server is known to remember requests by their keys. */
class KnowingClient extends ClientUnderTest {
  readonly submitter: Submitter;
  readonly outcomes: Record<string, SubmitOutcome['type']> = {};

  constructor(options: Partial<SubmitterOptions> = {}) {
    super();
    this.submitter = new Submitter({ addresses: 1, ...options }, this);
    this.submit('first');
    confirm(this.request);
    this.requests.length = 0;
  }

  submit(task: string | TaskRequest): void {
    const request = typeof task === 'string' ? { type: task } : task;
    this.submitter.submit([request], ({ type }) => {
      this.outcomes[request.type] = type;
    });
  }
}

function typesIn({ body }: ScriptedRequest): string[] {
  return (body as TaskRequest[]).map(({ type }) => type);
}

function confirm(request: ScriptedRequest): void {
  const items = typesIn(request).map((type) => {
    return { id: `t_${type}`, state: 'queued', deduplicated: false };
  });
  request.confirm({ items });
}

test('until a server confirms the key of a request, each task has one (submit.stored-once)', () => {
  const client = new ClientUnderTest();
  const submitter = new Submitter({ addresses: 1 }, client);
  const submit = () => submitter.submit([{ type: 'a' }], () => undefined);

  submit();
  expect(client.request.body[0].dedupeKey).toMatch(/^sdk\./);
  expect(client.request.requestKey?.key).toMatch(/^sdk\./);
  client.request.answer({ items: [{ id: 't_a', state: 'queued', deduplicated: false }] }, 201);
  submit();
  expect(client.request.body[0].dedupeKey).toMatch(/^sdk\./);
  confirm(client.request);
  submit();

  expect(client.request.bodyText).toBe('[{"type":"a"}]');
  expect(client.request.requestKey?.windowMs).toBeGreaterThan(1000);
});

test('a resend is the same request with the same key (submit.sealed-batch)', () => {
  const client = new KnowingClient();
  client.submit('a');
  const [first] = client.requests;

  first.fail();
  client.submit('b');
  client.time.advance(100);

  const [, second, third] = client.requests;
  expect([second.bodyText, second.requestKey]).toEqual([first.bodyText, first.requestKey]);
  expect(typesIn(third)).toEqual(['b']);
  expect(third.requestKey?.key).not.toBe(first.requestKey?.key);
});

test('calls that share a request are given up together (submit.sealed-batch)', () => {
  const client = new KnowingClient({ giveUpAfterMs: 1000, answerWithinMs: 5000 });
  for (const type of ['x', 'y', 'a']) client.submit(type);
  client.time.advance(100);
  client.submit('b');
  client.time.advance(1);
  client.submit('late');
  confirm(client.requests[0]);
  expect(typesIn(client.request)).toEqual(['a', 'b']);

  client.time.advance(900);
  client.request.refuse(429, 'overloaded', { retryAfter: '60' });
  client.time.advance(98);
  expect(client.outcomes).toEqual({ first: 'submitted', x: 'submitted' });
  client.time.advance(1);

  expect(client.outcomes).toMatchObject({ a: 'refused', b: 'refused' });
  expect(client.outcomes).not.toHaveProperty('late');
});

test('a request that a server did not take is sent again as it was, and others follow it', () => {
  const client = new KnowingClient();
  client.submit('a');
  client.request.refuse(429, 'overloaded', { retryAfter: '1' });
  client.submit('b');

  client.time.advance(1100);

  const [first, second, third] = client.requests;
  expect([second.bodyText, second.requestKey]).toEqual([first.bodyText, first.requestKey]);
  expect(typesIn(third)).toEqual(['b']);
});

test('of a request that is refused for one task, the others get another key', () => {
  const client = new KnowingClient();
  client.isOneTurn = true;
  client.submit('a');
  client.submit('bad');
  client.time.advance(0);
  const [first] = client.requests;

  first.refuse(400, 'invalid_request', { path: '/1/type' });
  confirm(client.request);

  expect(client.outcomes).toMatchObject({ a: 'submitted', bad: 'refused' });
  expect(typesIn(client.request)).toEqual(['a']);
  expect(client.request.requestKey?.key).not.toBe(first.requestKey?.key);
});

test.each([{ dedupeKey: 'mine' }, { inputBlob: 'a'.repeat(64) }, { exec: { command: ['true'] } }])(
  'a task with more than an input gets its own dedupe key: %j',
  (more) => {
    const client = new KnowingClient();

    client.submit({ type: 'a', ...more });

    expect(client.request.body[0].dedupeKey).toMatch(/^(mine|sdk\..+)$/);
    expect(client.request.requestKey).toBeUndefined();
  },
);

test('closing tells each call of a request that waits to be sent again', () => {
  const client = new KnowingClient();
  client.submit('a');
  client.request.fail();

  client.submitter.close();
  client.time.advance(10_000);

  expect(client.outcomes).toMatchObject({ a: 'closed' });
  expect(client.time.pending).toBe(0);
});
