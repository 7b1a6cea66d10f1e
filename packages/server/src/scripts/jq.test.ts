import { beforeAll, expect, test } from 'vitest';
import { Jq } from './jq.ts';

let jq: Jq;

beforeAll(async () => {
  process.env.SLUICE_SECRET_OF_TEST = 'secret';
  jq = await Jq.load();
});

test.each<[string, unknown[]]>([
  ['.n', [4]],
  ['.list[] | select(. > 1)', [2, 3]],
  ['.list | map(. * 2) | add', [12]],
  ['.missing // "none"', ['none']],
  ['{n, text} | keys', [['n', 'text']]],
  ['.text, (.text | ascii_upcase)', ['é " \\\n', 'é " \\\n'.toUpperCase().replace('É', 'é')]],
  ['empty', []],
  ['"a\\nb"', ['a\nb']],
  ['try error("x") catch .', ['x']],
  ['-1', [-1]],
  ['. | length # a comment', [3]],
])('%s', (query, values) => {
  const input = JSON.stringify({ n: 4, list: [1, 2, 3], text: 'é " \\\n' });

  expect(jq.evaluate(query, input)).toEqual({ value: JSON.stringify(values) });
});

test.each([
  ['.n.a', 'the query failed: Cannot index number with string ("a")'],
  ['error("no such shard")', 'the query failed: no such shard'],
  ['.[', 'the query failed: syntax error'],
  ['nothing', 'the query failed: nothing/0 is not defined'],
  ['"x" * 400000', 'its value has more than'],
  ['[range(50000000)]', 'it needs more than 64 MiB'],
  ['def f: 1 + f; f', 'it needs more than 64 MiB'],
  ['include "x"; .', 'module not found'],
  ['-n', 'n/0 is not defined'],
  ['--rawfile a /etc/passwd', 'syntax error'],
  ['input', 'the query failed'],
])('%s fails, and only itself', (query, message) => {
  expect(jq.evaluate(query, '{"n":1}')).toEqual({ message: expect.stringContaining(message) });
  expect(jq.evaluate('.n', '{"n":1}')).toEqual({ value: '[1]' });
});

test.each(['env', '$ENV', 'get_search_list', 'input_filename', '$__loc__'])(
  '%s shows nothing of this process',
  (query) => {
    const { value } = jq.evaluate(query, '1') as { value: string };

    expect(value).not.toContain('secret');
    expect(value).not.toContain(process.cwd());
  },
);

test('a query is checked without being run', () => {
  expect(jq.check('.a | map(.b)')).toBeUndefined();
  expect(jq.check('error("x")')).toBeUndefined();
  expect(jq.check('def f: f; f')).toBeUndefined();
  expect(jq.check('.a |')).toContain('syntax error');
  expect(jq.check('')).toContain('Top-level program not given');
});
