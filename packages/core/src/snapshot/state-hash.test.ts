import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StateHasher } from './state-hash.ts';

function hashOf(words: readonly number[]): number {
  const hasher = new StateHasher();
  for (const word of words) hasher.word(word);
  return hasher.value;
}

test('one flipped bit anywhere changes the hash', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 30 }),
      fc.nat(),
      fc.nat(31),
      (words, choice, bit) => {
        const at = choice % words.length;
        const flipped = words.with(at, words[at] ^ (1 << bit));

        expect(hashOf(flipped)).not.toBe(hashOf(words));
      },
    ),
  );
});

test('a hash is a whole number that the log can hold', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (words) => {
      expect(Number.isSafeInteger(hashOf(words))).toBe(true);
      expect(hashOf(words)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('bytes are hashed alike wherever they lie in memory', () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index * 7);
  const hashes = [0, 1, 2, 3].map((offset) => {
    const moved = new Uint8Array(50);
    moved.set(bytes, offset);
    const hasher = new StateHasher();
    hasher.run(moved, offset, offset + bytes.length);
    return hasher.value;
  });

  expect(new Set(hashes).size).toBe(1);
});

test('every kind of column is hashed to its last entry', () => {
  const kinds = [Float64Array, Uint32Array, Int32Array, Uint16Array, Int16Array, Uint8Array];
  for (const Kind of kinds) {
    const column = new Kind(5);
    const before = new StateHasher();
    before.column('column', column, 5);
    column[4] = 1;
    const after = new StateHasher();
    after.column('column', column, 5);

    expect(after.value, Kind.name).not.toBe(before.value);
  }
});
