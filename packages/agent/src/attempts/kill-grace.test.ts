import { TaskAborted } from '@sluice/sdk';
import { expect, test } from 'vitest';
import { graceOf } from './kill-grace.ts';

const cancelled = (graceMs: number): TaskAborted => new TaskAborted('cancelled', '', graceMs);

test.each([
  ['what the command asks for', 100, 10_000, 100],
  ['a second less than the server waits, for a command that asks for more', 60_000, 10_000, 9000],
  ['the same for a command that asks for nothing', undefined, 10_000, 9000],
  ['10 s if it asks for nothing and the server waits long', undefined, 60_000, 10_000],
  ['all that the command asks for, when the server waits long', 45_000, 60_000, 45_000],
  ['none when the server waits a second at most', 5000, 1000, 0],
  ['none when the server does not wait', 5000, 0, 0],
])('the grace is %s', (_, killGraceMs, graceMs, expected) => {
  expect(graceOf(cancelled(graceMs), killGraceMs)).toBe(expected);
});

test('there is no grace when another worker may have the task, or nobody asked', () => {
  expect(graceOf(new TaskAborted('lease_lost', '', 0), 5000)).toBe(0);
  expect(graceOf(new Error('the agent ends'), 5000)).toBe(0);
  expect(graceOf(undefined, 5000)).toBe(0);
});
