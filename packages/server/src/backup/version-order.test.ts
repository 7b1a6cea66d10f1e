import { expect, test } from 'vitest';
import { isNewer } from './version-order.ts';

test.each([
  ['1.0.0', '0.9.9', true],
  ['0.2.0', '0.10.0', false],
  ['0.1.1', '0.1.0', true],
  ['0.1.0', '0.1.0', false],
  ['0.1.0-beta', '0.1.0', false],
])('%s is newer than %s: %s', (version, other, expected) => {
  expect(isNewer(version, other)).toBe(expected);
});
