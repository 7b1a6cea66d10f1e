import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import type { LeaseNumber, Slot } from './ids.ts';
import {
  LEASE_TOKEN_LENGTH,
  type LeaseKey,
  leaseTokenText,
  parseLeaseToken,
  writeLeaseToken,
} from './lease-token.ts';

const keys: fc.Arbitrary<LeaseKey> = fc.record({
  partition: fc.nat(4095),
  slot: fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((slot) => slot as Slot),
  number: fc.integer({ min: 1, max: 2 ** 50 - 1 }).map((number) => number as LeaseNumber),
});

test('every lease comes back from its token', () => {
  fc.assert(
    fc.property(keys, (key) => {
      expect(parseLeaseToken(leaseTokenText(key))).toEqual(key);
    }),
  );
});

test('the token as bytes is the token as text', () => {
  fc.assert(
    fc.property(keys, (key) => {
      const bytes = new Uint8Array(LEASE_TOKEN_LENGTH + 2);

      writeLeaseToken(bytes, 1, key);

      expect(testUtf8.decode(bytes)).toBe(`\0${leaseTokenText(key)}\0`);
    }),
  );
});

test('tokens of one slot sort by the number of the lease', () => {
  fc.assert(
    fc.property(keys, keys, (key, other) => {
      const later = { ...key, number: other.number };

      expect(leaseTokenText(key) < leaseTokenText(later)).toBe(key.number < later.number);
    }),
  );
});

test('a text that is no token is refused', () => {
  const token = leaseTokenText({ partition: 0, slot: 3 as Slot, number: 9 as LeaseNumber });

  const foreign = ['', 'l_', `${token}0`, token.slice(0, -1), `t${token.slice(1)}`];
  const spoiled = [token.toUpperCase(), `${token.slice(0, -1)}w`, `l_${'é'.repeat(20)}`];

  for (const text of [...foreign, ...spoiled]) expect(parseLeaseToken(text)).toBeUndefined();
});

test('a token without a lease number is refused, because 0 stands for no lease', () => {
  expect(parseLeaseToken(`l_${'0'.repeat(20)}`)).toBeUndefined();
});

test('any text is refused or is exactly the token of what it is read as', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[lt]_[0-9a-w]{19,21}$/));
  fc.assert(
    fc.property(texts, (text) => {
      const key = parseLeaseToken(text);

      if (key !== undefined) expect(leaseTokenText(key)).toBe(text);
    }),
  );
});
