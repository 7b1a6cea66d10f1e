import { expect, test } from 'vitest';
import { comparePlaces, valueAt } from './json-pointer.ts';

test.each([
  ['', { a: [{ 'b/c': 7 }] }],
  ['/a/0/b~1c', 7],
  ['/a/1', undefined],
  ['/a/length/0', undefined],
  ['/toString', undefined],
])('the value at %j', (pointer, expected) => {
  expect(valueAt({ a: [{ 'b/c': 7 }] }, pointer)).toEqual(expected);
});

test('places are in the order of a reader', () => {
  const places = ['/tasks/10/type', '/tasks/2', '', '/tasks/2/type', '/tasks/2/input', '/name'];

  expect(places.toSorted(comparePlaces)).toEqual([
    '',
    '/name',
    '/tasks/2',
    '/tasks/2/input',
    '/tasks/2/type',
    '/tasks/10/type',
  ]);
});
