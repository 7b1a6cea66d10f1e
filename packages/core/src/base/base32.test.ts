import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { BASE32_LENGTH, parseBase32, toBase32, writeBase32 } from './base32.ts';

const LIMIT = 2 ** 50;
const ALPHABET = '0123456789abcdefghijklmnopqrstuv';

const numbers = fc.oneof(
  fc.integer({ min: 0, max: LIMIT - 1 }),
  fc.constantFrom(0, 1, 31, 32, 2 ** 25 - 1, 2 ** 25, 2 ** 31, 2 ** 32, LIMIT - 1),
);

test('zero and the largest number have the first and the last text', () => {
  expect(toBase32(0)).toBe('0000000000');
  expect(toBase32(LIMIT - 1)).toBe('vvvvvvvvvv');
});

test('every number comes back from its text', () => {
  fc.assert(
    fc.property(numbers, (value) => {
      const text = toBase32(value);

      expect(text).toHaveLength(BASE32_LENGTH);
      expect(parseBase32(text, 0)).toBe(value);
    }),
  );
});

test('bytes and text are spelled alike, and the bytes around stay as they were', () => {
  fc.assert(
    fc.property(numbers, fc.nat(5), (value, at) => {
      const bytes = new Uint8Array(BASE32_LENGTH + 10).fill(0x2e);

      writeBase32(bytes, at, value);

      const rest = '.'.repeat(10 - at);
      expect(testUtf8.decode(bytes)).toBe(`${'.'.repeat(at)}${toBase32(value)}${rest}`);
    }),
  );
});

test('the order of the texts is the order of the numbers', () => {
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      expect(toBase32(a) < toBase32(b)).toBe(a < b);
    }),
  );
});

test('a number is read from the middle of a text', () => {
  expect(parseBase32(`xy${toBase32(77)}zz`, 2)).toBe(77);
});

test('a text with one foreign character is refused', () => {
  const foreign = fc
    .nat(0xffff)
    .map((code) => String.fromCharCode(code))
    .filter((character) => !ALPHABET.includes(character));
  fc.assert(
    fc.property(numbers, fc.nat(BASE32_LENGTH - 1), foreign, (value, place, character) => {
      const text = toBase32(value);

      const spoiled = text.slice(0, place) + character + text.slice(place + 1);

      expect(parseBase32(spoiled, 0)).toBe(-1);
    }),
  );
});

test('a text that ends too early is refused', () => {
  fc.assert(
    fc.property(numbers, fc.nat(BASE32_LENGTH - 1), (value, length) => {
      expect(parseBase32(toBase32(value).slice(0, length), 0)).toBe(-1);
    }),
  );
});
