import { expect, test } from 'vitest';
import { evaluateScript, scriptProblem } from './scripts.ts';

test.each([
  ['$.n + 1', 5],
  ['(function () { return { list: [$.n, null] }; })()', { list: [4, null] }],
  ["if ($.n > 3) { 'large' } else { 'small' }", 'large'],
  ['undefined', null],
  ['', null],
  ['NaN', null],
  ['const { n } = $; n ** 2', 16],
  ['`${$.text}`', 'é " \\ \u2028'],
  ['typeof process + typeof require + typeof console + typeof Intl', 'undefined'.repeat(4)],
  ['const Date = $.n; Date', 4],
])('%s', (source, value) => {
  const input = JSON.stringify({ n: 4, text: 'é " \\ \u2028' });

  expect(evaluateScript(source, input)).toEqual({ value: JSON.stringify(value) });
});

test.each([
  ['while (true) {}', 'it ran for more than 1 s'],
  ['(function f() { f(); })()', 'it calls itself too deeply'],
  ["throw new Error('no such shard')", 'Error: no such shard'],
  ["throw 'plain'", 'plain'],
  ['throw null', 'null'],
  ['boom()', 'ReferenceError'],
  ["'x'.repeat(300_000)", 'its value has more than'],
  ['1n', 'TypeError'],
  ['new Date()', 'ReferenceError: Date does not exist in scripts: pass the time as input'],
  ['Math.random()', 'ReferenceError: Math.random does not exist in scripts'],
  ['({ toJSON: () => null, then: 1 }); Object.prototype.toJSON = () => 1n; ({})', 'TypeError'],
])('%s fails, and only itself', (source, message) => {
  expect(evaluateScript(source, '{}')).toEqual({ message: expect.stringContaining(message) });
  expect(evaluateScript('1', '{}')).toEqual({ value: '1' });
});

test('a script sees nothing of the script before it', () => {
  evaluateScript('globalThis.left = 1; Array.prototype.push = null; 1', '{}');

  expect(evaluateScript('typeof left + [].push.name', '{}')).toEqual({
    value: '"undefinedpush"',
  });
});

test('the syntax of a script is checked without running it', () => {
  expect(scriptProblem('while (true) {}')).toBeUndefined();
  expect(scriptProblem('if (')).toContain('SyntaxError');
});
