import { expect, test } from 'vitest';
import { ClientUnderTest } from '../testing/client-under-test.ts';
import { ApiCalls, type CallOutcome } from './api-calls.ts';

class CallsUnderTest extends ClientUnderTest {
  readonly calls = new ApiCalls({ addresses: 2 }, this);
  readonly outcomes: CallOutcome[] = [];

  call(): void {
    this.calls.call({ method: 'GET', path: '/v1/tasks/t_1' }, (outcome) =>
      this.outcomes.push(outcome),
    );
  }
}

test('an answer is told once, also when it comes twice', () => {
  const client = new CallsUnderTest();
  client.call();

  client.request.answer({ id: 't_1' });
  client.request.answer({ id: 't_2' });

  const answer = { status: 200, text: '{"id":"t_1"}' };
  expect(client.outcomes).toEqual([{ type: 'answered', answer }]);
  expect(client.time.pending).toBe(0);
});

test('without an answer it goes to the next address after a pause, and later calls do too', () => {
  const client = new CallsUnderTest();
  client.call();

  client.request.fail();
  client.time.fireNext();
  client.call();

  expect(client.requests.map(({ address }) => address)).toEqual([0, 1, 1]);
});

test('an answer that does not come in time is not waited for', () => {
  const client = new CallsUnderTest();
  client.call();

  client.time.advance(5000);
  client.time.advance(1000);

  expect(client.requests).toHaveLength(2);
  expect(client.requests[0].isCancelled).toBe(true);
});

test('a server that cannot take it now is asked again, when it says', () => {
  const client = new CallsUnderTest();
  client.call();

  client.request.refuse(429, 'overloaded', { retryAfter: '3' });
  client.time.advance(2999);
  expect(client.requests).toHaveLength(1);
  client.time.advance(1000);

  expect(client.requests).toHaveLength(2);
  expect(client.request.address).toBe(0);
});

test('a refusal is final', () => {
  const client = new CallsUnderTest();
  client.call();

  client.request.refuse(404, 'task_not_found');

  expect(client.outcomes).toMatchObject([{ type: 'refused', refusal: { code: 'task_not_found' } }]);
});

test('it is given up after a while: with the last refusal, or not knowing', () => {
  const client = new CallsUnderTest();
  client.call();
  client.call();
  const [first] = client.requests;

  client.time.advance(1);
  while (client.outcomes.length < 2) {
    for (const request of client.requests.splice(0)) {
      if (request.path === first.path) request.refuse(503, 'unavailable');
    }
    if (!client.time.fireNext()) break;
  }

  expect(client.outcomes).toMatchObject([
    { type: 'refused', refusal: { code: 'unavailable' } },
    { type: 'refused', refusal: { code: 'unavailable' } },
  ]);
  client.call();
  client.request.fail();
  while (client.outcomes.length < 3 && client.time.fireNext()) client.request.fail();
  expect(client.outcomes[2]).toEqual({ type: 'unknown' });
});

test('a closed client says nothing any more', () => {
  const client = new CallsUnderTest();
  client.call();

  client.calls.close();
  client.request.answer({});

  expect(client.request.isCancelled).toBe(true);
  expect(client.time.pending).toBe(0);
});
