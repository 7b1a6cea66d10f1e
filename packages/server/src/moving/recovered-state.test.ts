import { expect, test } from 'vitest';
import { compareStates } from './recovered-state.ts';

const SOURCE = { hash: 0xabc, tail: 7, position: 0, tasks: 1 };

test('a copy with the same state and end is accepted, whatever snapshot it came from', () => {
  compareStates(SOURCE, { ...SOURCE, position: 5 });
});

test.each([
  ['another state', { hash: 0xabd }],
  ['another end', { tail: 6 }],
])('a copy with %s is refused', (_, other) => {
  expect(() => compareStates(SOURCE, { ...SOURCE, ...other })).toThrow('the copy has state');
});
