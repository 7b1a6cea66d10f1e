import { expect, test } from 'vitest';
import { PendingCalls, type SubmitCall } from './pending-calls.ts';

type Call = SubmitCall<undefined>;

const SPAN_MS = 10;

function call(name: string, more: Partial<Call> = {}): Call {
  const state = { since: 0, mayBeStored: false, refusal: undefined, problem: undefined };
  const marks = { isAlone: false, isPlain: false };
  const given = { texts: [name], isKeyOurs: [true], bytes: name.length, done: undefined };
  return { ...given, ...state, ...marks, ...more };
}

function pending(...added: readonly Call[]): PendingCalls<undefined> {
  const calls = new PendingCalls<undefined>({ tasksMax: 10, bytesMax: 100 });
  for (const each of added) calls.add(each);
  return calls;
}

const namesOf = (calls: readonly Call[]) => calls.flatMap(({ texts }) => texts);

test('a call that travels by itself neither joins others nor lets others join', () => {
  const calls = pending(call('a'), call('b', { isAlone: true }), call('c'), call('d'));

  const batches = Array.from({ length: 4 }, () => namesOf(calls.take(SPAN_MS)));

  expect(batches).toEqual([['a'], ['b'], ['c', 'd'], []]);
});

test('calls whose tasks have keys do not share a request with those that have none', () => {
  const calls = pending(call('a'), call('b', { isPlain: true }), call('c', { isPlain: true }));

  expect([calls.take(SPAN_MS), calls.take(SPAN_MS)].map(namesOf)).toEqual([['a'], ['b', 'c']]);
});

test('a sealed batch is given back as it was, before others (submit.sealed-batch)', () => {
  const calls = pending(call('a', { isPlain: true }), call('b', { isPlain: true }));
  const batch = { calls: calls.take(SPAN_MS), key: 'k' };
  calls.add(call('c', { isPlain: true }));

  calls.seal(batch);

  expect(calls.takeSealed()).toBe(batch);
  expect(calls.takeSealed()).toBeUndefined();
  expect(namesOf(calls.take(SPAN_MS))).toEqual(['c']);
});

test('calls of a batch are given up with the youngest (submit.sealed-batch)', () => {
  const calls = pending(
    call('a', { since: 1, isPlain: true }),
    call('b', { since: 11, isPlain: true }),
    call('c', { since: 12, isPlain: true }),
  );
  const batch = { calls: calls.take(SPAN_MS), key: 'k' };
  expect(namesOf(batch.calls)).toEqual(['a', 'b']);
  calls.seal(batch);
  expect(calls.oldestSince).toBe(11);

  expect(namesOf(calls.takeOld(10))).toEqual([]);
  expect(namesOf(calls.takeOld(11))).toEqual(['a', 'b']);

  expect(calls.takeSealed()).toBeUndefined();
  expect(calls.oldestSince).toBe(12);
});
