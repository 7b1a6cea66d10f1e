import { expect, test } from 'vitest';
import { NoticeLimit } from './notice-limit.ts';

test('a hundred of a kind are said in an hour, and others of another kind', () => {
  let now = 0;
  const limit = new NoticeLimit(() => now);
  const hour = () => Array.from({ length: 150 }, () => limit.take('row'));

  const said = hour();
  expect(said.filter((each) => each === 'say')).toHaveLength(99);
  expect(said[99]).toBe('say last');
  expect(said.slice(100)).toEqual(Array.from({ length: 50 }, () => 'drop'));
  expect(limit.take('event')).toBe('say');

  now += 3_600_000;
  expect(hour()).toEqual(said);
});
