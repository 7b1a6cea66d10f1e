import { expect, test } from 'vitest';
import { PendingCalls } from './pending-calls.ts';

function call(name: string, isAlone = false) {
  const state = { since: 0, mayBeStored: false, refusal: undefined, problem: undefined, isAlone };
  return { texts: [name], isKeyOurs: [true], bytes: name.length, done: undefined, ...state };
}

test('a call that travels by itself neither joins others nor lets others join', () => {
  const calls = new PendingCalls<undefined>({ tasksMax: 10, bytesMax: 100 });
  for (const each of [call('a'), call('b', true), call('c'), call('d')]) calls.add(each);

  const batches = Array.from({ length: 4 }, () => calls.take().flatMap(({ texts }) => texts));

  expect(batches).toEqual([['a'], ['b'], ['c', 'd'], []]);
});
