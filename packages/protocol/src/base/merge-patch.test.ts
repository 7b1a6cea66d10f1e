import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch } from './merge-patch.ts';

test.each([
  ['{"a":1}', '{"b":2}', '{"a":1,"b":2}'],
  ['{"a":1}', '{"a":2}', '{"a":2}'],
  ['{"a":1,"b":2}', '{"a":null}', '{"b":2}'],
  ['{"a":1}', '{"b":null}', '{"a":1}'],
  ['{"a":{"b":1,"c":2}}', '{"a":{"b":null,"d":3}}', '{"a":{"c":2,"d":3}}'],
  ['{"a":[1,2]}', '{"a":[3]}', '{"a":[3]}'],
  ['{"a":[1]}', '{"a":{"b":1}}', '{"a":{"b":1}}'],
  ['{"a":1}', '[1]', '[1]'],
  ['{"a":1}', 'null', 'null'],
  ['{"a":1}', '"text"', '"text"'],
  ['null', '{"a":{"b":null,"c":1}}', '{"a":{"c":1}}'],
  ['[1]', '{"a":null}', '{}'],
  ['{"a":1}', '{}', '{"a":1}'],
  ['{"a":1}', '{"__proto__":{"b":1}}', '{"a":1,"__proto__":{"b":1}}'],
  ['{"__proto__":{"b":1}}', '{"__proto__":{"c":2}}', '{"__proto__":{"b":1,"c":2}}'],
])('%s with %s becomes %s', (before, patch, after) => {
  expect(JSON.stringify(mergePatch(JSON.parse(before), JSON.parse(patch)))).toBe(after);
  expect({}).not.toHaveProperty('b');
});

/** The algorithm as it is usually written, for values that are not deep. */
function byTheBook(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof before === 'object' && before !== null && !Array.isArray(before);
  const result = new Map<string, unknown>(Object.entries(isObject ? before : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, byTheBook(result.get(name), value));
  }
  return Object.fromEntries(result);
}

test('any two values are merged by the book, and stay as they were', () => {
  const names = fc.constantFrom('a', 'b', '__proto__', '0');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, 1, 'x', [], [{ a: null }]),
      fc.dictionary(names, tie('value'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, value, (one, other) => {
      const texts = [JSON.stringify(one), JSON.stringify(other)];
      const [before, patch] = texts.map((text) => JSON.parse(text));

      const merged = JSON.stringify(mergePatch(before, patch));

      expect(JSON.parse(merged)).toEqual(byTheBook(before, patch));
      expect([before, patch].map((each) => JSON.stringify(each))).toEqual(texts);
    }),
  );
});

test('depth is no matter', () => {
  const levels = 200_000;
  const deep = (inside: string) => JSON.parse('{"a":'.repeat(levels) + inside + '}'.repeat(levels));

  expect(() => mergePatch(deep('{"b":1}'), deep('{"c":2}'))).not.toThrow();
});
