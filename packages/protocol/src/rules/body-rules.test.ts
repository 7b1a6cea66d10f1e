import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonPlace } from '../base/json-place.ts';
import { brokenText, repeatedName } from './body-rules.ts';
import { inexactPayload } from './exact-numbers.ts';

function repeated(text: string): string | undefined {
  return repeatedName(text, JSON.parse(text))?.path;
}

function broken(text: string): string | undefined {
  return brokenText(text, JSON.parse(text))?.path;
}

test.each([
  ['{"a":1,"a":2}', '/a'],
  ['{"a":{"b":1},"c":[{"b":1},{"b":1,"\\u0062":2}]}', '/c/1/b'],
  ['{"__proto__":1,"__proto__":2}', '/__proto__'],
  ['{"a":1,"x":{"a":1},"a" : 3}', '/a'],
  ['{"/":"\\"a\\":1","/":2}', '/~1'],
])('in %s a name stands twice', (text, path) => {
  expect(repeated(text)).toBe(path);
});

test('a value that was written from memory has no name twice', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0, 2), (value, indent) => {
      expect(repeated(JSON.stringify(value, null, indent))).toBeUndefined();
    }),
  );
});

test.each([
  ['{"dedupeKey":"a\\ud800"}', '/dedupeKey'],
  ['[{"tags":{"\\uDFFF":"b"}}]', '/0/tags/\ufffd'],
  ['{"ids":["\\udc00\\ud800"]}', '/ids/0'],
])('%s has half of a pair', (text, path) => {
  expect(broken(text)).toBe(path);
});

test.each([
  '{"dedupeKey":"\\ud83d\\ude00","tags":{"a":"\\\\ud800"}}',
  '{"input":"\\ud800"}',
  '[{"input":{"\\ud800":1}}]',
  '{"reports":[{"error":{"message":"\\udc80"}}]}',
  '{"error":{"message":"\\udc80"}}',
])('%s is kept as it is', (text) => {
  expect(broken(text)).toBeUndefined();
});

/** Texts that an inefficient check would read again and again. */
const hostile = fc.record({
  name: fc.oneof(
    fc.nat({ max: 20_000 }).map((length) => 'n'.repeat(length)),
    fc.nat({ max: 3000 }).map((length) => '\\u0061'.repeat(length)),
    fc.nat({ max: 5000 }).map((length) => '\\"'.repeat(length)),
    fc.nat({ max: 5000 }).map((length) => '\\\\'.repeat(length)),
  ),
  number: fc.constantFrom('9007199254740993', '1e400', '"1e400"', `1${'0'.repeat(300)}1`),
  count: fc.nat({ max: 2000 }),
  depth: fc.nat({ max: 300 }),
});

test('where numbers stand is found in steps that grow as the text does', () => {
  fc.assert(
    fc.property(hostile, ({ name, number, count, depth }) => {
      const list = `[${Array.from({ length: count }, () => number).join(',')}]`;
      const nested = `${'['.repeat(depth)}${list}${']'.repeat(depth)}`;
      const text = `{"${name}":${nested},"b":{"${name}":${list}}}`;
      const place = new JsonPlace(text);

      inexactPayload(text, place);

      expect(place.steps).toBeLessThanOrEqual(text.length * 2);
    }),
  );
});
