import { describe, expect, test } from 'vitest';
import { ClientUnderTest } from '../testing/client-under-test.ts';
import { TaskWaits, type WaitOutcome } from './task-waits.ts';

class WaitsUnderTest extends ClientUnderTest {
  readonly waits = new TaskWaits({ addresses: 2 }, this);
  readonly outcomes: [string, WaitOutcome['type']][] = [];

  watch(id: string): () => void {
    return this.waits.watch(id, ({ type }) => this.outcomes.push([id, type]));
  }

  end(...ids: string[]): void {
    this.request.answer({ items: ids.map((id) => ({ id, state: 'succeeded' })) });
  }
}

describe('one request for all', () => {
  test('the first id is asked for at once, and its end is told', () => {
    const client = new WaitsUnderTest();
    const told: WaitOutcome[] = [];

    client.waits.watch('t_1', (outcome) => told.push(outcome));

    expect(client.request).toMatchObject({ method: 'POST', path: '/v1/tasks/wait' });
    expect(client.request.body).toEqual({ ids: ['t_1'], timeoutMs: 60_000 });
    client.end('t_1');
    expect(told).toEqual([{ type: 'ended', task: { id: 't_1', state: 'succeeded' } }]);
    expect(client.requests).toHaveLength(1);
  });

  test('ids that come later join within a moment, all in one request (waits.one-request)', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');

    for (const id of ['t_2', 't_3']) client.watch(id);
    client.time.advance(49);
    expect(client.requests).toHaveLength(1);
    client.watch('t_4');
    client.time.advance(1);

    expect(client.requests[0].isCancelled).toBe(true);
    expect(client.requests).toHaveLength(2);
    expect(client.request.body.ids.toSorted()).toEqual(['t_1', 't_2', 't_3', 't_4']);
  });

  test('who came late joins the next request when the first returns before that', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');
    client.watch('t_2');

    client.end('t_1');
    client.time.advance(1000);

    expect(client.requests).toHaveLength(2);
    expect(client.request.body.ids).toEqual(['t_2']);
  });

  test('the same id is asked for once, and everybody is told', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');
    client.watch('t_1');

    client.end('t_1');
    client.time.advance(1000);

    expect(client.requests).toHaveLength(1);
    expect(client.outcomes).toEqual([
      ['t_1', 'ended'],
      ['t_1', 'ended'],
    ]);
  });

  test('whoever cancels hears nothing, and is not asked for again (waits.one-outcome)', () => {
    const client = new WaitsUnderTest();
    const cancel = client.watch('t_1');
    client.watch('t_2');

    cancel();
    client.time.advance(50);
    expect(client.request.body.ids).toEqual(['t_2']);
    client.end('t_1', 't_2');

    expect(client.outcomes).toEqual([['t_2', 'ended']]);
  });

  test('more ids than one request holds have their turns, each a short one', () => {
    const client = new WaitsUnderTest();
    const ids = Array.from({ length: 2500 }, (_, index) => `t_${index}`);
    for (const id of ids) client.watch(id);
    client.time.advance(50);

    for (let round = 0; round < 3; round++) {
      const seen = new Set<string>();
      for (let turn = 0; turn < 5; turn++) {
        const asked: string[] = client.request.body.ids;
        expect(asked).toHaveLength(1000);
        expect(asked).toEqual(expect.arrayContaining(ids.slice(0, 500)));
        expect(client.request.body.timeoutMs).toBe(250);
        for (const id of asked) seen.add(id);
        client.time.advance(250);
        client.request.answer({ items: [] });
        client.time.advance(10);
      }
      expect(seen.size).toBe(2500);
    }
  });

  test('new ids are asked for at once, also while there are too many, and all have turns', () => {
    const client = new WaitsUnderTest();
    for (let n = 0; n < 3000; n++) client.watch(`t_${n}`);
    client.time.advance(50);
    const seen = new Set<string>();

    for (let turn = 0; turn < 30; turn++) {
      const fresh = Array.from({ length: 200 }, (_, n) => `n_${turn}_${n}`);
      for (const id of fresh) client.watch(id);
      for (const id of client.request.body.ids) seen.add(id);
      client.end(...client.request.body.ids.slice(0, 200));
      client.time.advance(10);
    }

    for (let n = 0; n < 3000; n++) expect(seen).toContain(`t_${n}`);
    expect(client.requests.at(-1)?.body.ids).toContain('n_29_0');
  });

  test('one id more than a request holds follows within a moment, too (waits.one-request)', () => {
    const client = new WaitsUnderTest();
    client.isOneTurn = true;
    for (let n = 0; n < 1000; n++) client.watch(`t_${n}`);
    client.time.advance(0);
    expect(client.request.body.timeoutMs).toBe(60_000);

    client.watch('t_late');
    client.time.advance(50);

    expect(client.request.body.ids).toContain('t_late');
    expect(client.request.body.timeoutMs).toBe(250);
  });

  test('a request that brought little is followed by a pause, one that brought much is not', () => {
    const client = new WaitsUnderTest();
    client.isOneTurn = true;
    const ids = Array.from({ length: 600 }, (_, index) => `t_${index}`);
    for (const id of ids) client.watch(id);
    client.time.advance(0);

    client.end(...ids.slice(0, 100));
    client.time.advance(5);
    expect(client.requests).toHaveLength(1);
    client.time.advance(1);
    expect(client.requests).toHaveLength(2);
    client.end(...ids.slice(100, 500));

    expect(client.request.body.ids).toEqual(ids.slice(500));
  });
});

describe('answers', () => {
  test('when the time is up the wait begins anew', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');

    client.time.advance(60_000);
    client.request.answer({ items: [] });

    expect(client.requests).toHaveLength(2);
  });

  test('a server that neither waits nor has news is not asked without end', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');

    client.request.answer({ items: [] });

    expect(client.requests).toHaveLength(1);
    client.time.advance(50);
    expect(client.requests).toHaveLength(2);
  });

  test('a broken connection, and one that hangs, are tried again at the next address', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');

    client.request.fail();
    client.time.advance(100);
    client.time.advance(75_000);
    client.time.advance(100);

    expect(client.requests.map(({ address }) => address)).toEqual([0, 1, 0]);
    expect(client.outcomes).toEqual([]);
  });

  test('Retry-After is obeyed', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');

    client.request.refuse(429, 'overloaded', { retryAfter: '3' });

    client.time.advance(3049);
    expect(client.requests).toHaveLength(1);
    client.time.advance(1);
    expect(client.requests).toHaveLength(2);
  });

  test('an id that nobody knows, and a client that may not ask, are told', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');
    client.watch('t_2');
    client.time.advance(50);

    client.request.answer({ items: [], unknown: ['t_1'] });
    client.request.refuse(403, 'forbidden');

    expect(client.outcomes).toEqual([
      ['t_1', 'not_found'],
      ['t_2', 'refused'],
    ]);
    client.time.advance(100_000);
    expect(client.requests).toHaveLength(3);
  });

  test('closed, it says nothing more', () => {
    const client = new WaitsUnderTest();
    client.watch('t_1');
    client.watch('t_2');

    client.waits.close();
    client.end('t_1');
    client.time.advance(100_000);

    expect(client.outcomes).toEqual([]);
    expect(client.time.pending).toBe(0);
  });
});
