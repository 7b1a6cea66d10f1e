import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ValueHash } from './value-hash.ts';

const hasher = new ValueHash();

function hashOf(value: unknown): string {
  const words = new Uint32Array(6);
  hasher.write(words, 1, value);
  expect([words[0], words[5]]).toEqual([0, 0]);
  return [...words.subarray(1, 5)].map((word) => word.toString(16).padStart(8, '0')).join('');
}

test('the hash of a value stays the same, because logs hold it', () => {
  const value = { text: 'grüße 🦆', list: [1, -0.5, 2 ** 40, true, false, null], empty: {} };

  expect(hashOf(value)).toMatchInlineSnapshot(`"991894555957a35923263b9f4ce5c6a7"`);
});

test('values have the same hash when they are the same JSON, and else another one', () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonical(value);
      const other = seen.get(hashOf(value));
      expect(other ?? text).toBe(text);
      seen.set(hashOf(value), text);
      expect(hashOf(reversed(value))).toBe(hashOf(value));
    }),
    { numRuns: 2000 },
  );
});

test('a small difference changes about half of the bits', () => {
  const pairs = [
    ['', 'a'],
    ['ab', 'ba'],
    [1, 2],
    [0, 2 ** -1074],
    [[], {}],
    [[[]], []],
    [null, false],
    ['x'.repeat(999), `${'x'.repeat(998)}y`],
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
    [{ a: { b: 1 } }, { b: { a: 1 } }],
    [['a', 'b'], ['ab']],
  ];
  for (const [one, other] of pairs) {
    const differing = BigInt(`0x${hashOf(one)}`) ^ BigInt(`0x${hashOf(other)}`);
    const bits = [...differing.toString(2)].filter((bit) => bit === '1').length;
    expect(bits).toBeGreaterThan(36);
    expect(bits).toBeLessThan(92);
  }
});

test('there is one zero, as in JSON', () => {
  expect(hashOf(-0)).toBe(hashOf(0));
});

test('of many values that differ in a number no two have half of the hash in common', () => {
  const words = new Uint32Array(4);
  const halves = new Set<bigint>();
  const count = 200_000;
  for (let n = 0; n < count; n++) {
    hasher.write(words, 0, { n, text: `task ${n}` });
    halves.add((BigInt(words[0]) << 32n) | BigInt(words[3]));
  }

  expect(halves.size).toBe(count);
});

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, part]) => [name, reversed(part)]));
}
