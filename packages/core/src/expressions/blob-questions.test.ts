import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { keyOf, lookIntoBlobs } from './blob-questions.ts';
import { depthOf, isJson } from './check-json.ts';

const encoded = (text: string): Uint8Array => testUtf8.encode(text);

test.each([
  '{}',
  '[]',
  ' { "a" : [ 1 , -2.5e+3 , "x\\n\\u00e9\\"" , true , false , null , { } , [ ] ] } ',
  '"text"',
  '0',
  '-0.1E9',
  '{"a":{"b":[[[]]]},"c":""}',
])('%s is JSON', (text) => {
  expect(isJson(encoded(text))).toBe(true);
  expect(() => JSON.parse(text)).not.toThrow();
});

test.each([
  '',
  '{',
  '[',
  '[1',
  '[1,]',
  '[,]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '"open',
  '"\\x"',
  '"\\u00g0"',
  '"line\nbreak"',
  '01',
  '1.',
  '.5',
  '+1',
  '1e',
  'nul',
  '[1}',
  '{"a":1]',
  '1 2',
  '@ab',
  ']',
])('%s is no JSON', (text) => {
  expect(isJson(encoded(text))).toBe(false);
  expect(() => JSON.parse(text)).toThrow();
});

test('nesting is no recursion', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  expect(isJson(encoded(deep))).toBe(true);
  expect(depthOf(encoded(deep), deep.length)).toBe(200_000);
});

function ask(content: string, path: readonly string[]) {
  const steps = path.map((name) => ({ kind: 'name', name }) as const);
  const key = keyOf({ sha256: 'ab', path: steps, isLength: false });
  const [answer] = lookIntoBlobs([key], { read: () => encoded(content), utf8: testUtf8 });
  return answer;
}

test('a value is compact, and is that of the first member with its name', () => {
  expect(ask('{ "a" : { "b" : [ 1 , 2 ] } }', ['a']).value).toBe('{"b":[1,2]}');
  expect(ask('{"a":1,"a":2}', ['a']).value).toBe('1');
});

test('a value that is nested too deeply or too large is refused', () => {
  const deep = `{"a":${'['.repeat(501)}${']'.repeat(501)}}`;
  expect(ask(deep, ['a']).problem?.code).toBe('bad_value');
  expect(ask(deep, ['b']).value).toBe('null');
  const large = JSON.stringify({ a: 'x'.repeat(2 ** 22) });
  expect(ask(large, ['a']).problem?.code).toBe('value_too_large');
});

test('the answers to all questions have one bound, and each blob is read once', () => {
  const content = encoded(JSON.stringify({ a: 'x'.repeat(3_000_000), b: 'y'.repeat(3_000_000) }));
  const keys = ['a', 'b'].map((name) =>
    keyOf({ sha256: 'ab', path: [{ kind: 'name', name }], isLength: false }),
  );
  let reads = 0;
  const read = (): Uint8Array => {
    reads += 1;
    return content;
  };

  const [one, two] = lookIntoBlobs(keys, { read, utf8: testUtf8 });

  expect(one.value?.length).toBe(3_000_002);
  expect(two.problem?.code).toBe('value_too_large');
  expect(reads).toBe(1);
});
