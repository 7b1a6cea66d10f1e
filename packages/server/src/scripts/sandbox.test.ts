import { beforeAll, expect, test } from 'vitest';
import { Sandbox } from './sandbox.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.load();
});

test.each([
  ['$.n + 1', 5],
  ['(function () { return { list: [$.n, null] }; })()', { list: [4, null] }],
  ['function f() { return $.text; } f();', 'é " \\'],
  ["if ($.n > 3) { 'large' } else { 'small' }", 'large'],
  ['undefined', null],
  ['', null],
  ['$.missing', null],
  ['NaN', null],
  ['const { n } = $; n ** 2', 16],
])('%s', (source, value) => {
  const input = JSON.stringify({ n: 4, text: 'é " \\' });
  expect(sandbox.evaluate(source, input)).toEqual({ value: JSON.stringify(value) });
});

test.each([
  ['while (true) {}', 'it ran for more than 1 s'],
  ['const all = []; while (true) all.push(new Uint8Array(1e6));', 'more than 32 MiB'],
  ['(function f() { f(); })()', 'it calls itself too deeply'],
  ["throw new Error('no such shard')", 'Error: no such shard'],
  ["throw 'plain'", 'plain'],
  ['throw null', 'null'],
  ['boom()', "ReferenceError: 'boom' is not defined"],
  ["'x'.repeat(300_000)", 'its value has more than'],
  ['({ toJSON() { while (true) {} } })', 'it ran for more than 1 s'],
  [
    "JSON.stringify = () => 'no JSON'; Object.prototype.toJSON = () => 1n; ({})",
    'the script failed',
  ],
])('%s fails, and only itself', (source, message) => {
  expect(sandbox.evaluate(source, '{}')).toEqual({ message: expect.stringContaining(message) });
  expect(sandbox.evaluate('1', '{}')).toEqual({ value: '1' });
});

test('a script sees nothing of the process, and nothing of the script before it', () => {
  sandbox.evaluate('globalThis.left = 1; Array.prototype.push = null; 1', '{}');
  const seen = 'typeof process + typeof require + typeof fetch + typeof left + [].push.name';
  expect(sandbox.evaluate(seen, '{}')).toEqual({
    value: JSON.stringify(`${'undefined'.repeat(4)}push`),
  });
  const way = "this.constructor.constructor('return typeof process')()";
  expect(sandbox.evaluate(way, '{}')).toEqual({ value: '"undefined"' });
});

test.each([
  ['new Date()', 'Date does not exist in scripts: pass the time as input'],
  ['Date.now()', 'Date does not exist in scripts: pass the time as input'],
  ['globalThis.Date', 'Date does not exist in scripts: pass the time as input'],
  ['Math.random()', 'Math.random does not exist in scripts: pass random numbers as input'],
  ['delete globalThis.Date; Date.now()', "'Date' is not defined"],
])('%s: a script has no clock and no random numbers', (source, message) => {
  expect(sandbox.evaluate(source, '{}')).toEqual({
    message: expect.stringContaining(`ReferenceError: ${message}`),
  });
});

test('a script may use the names for what it passes in', () => {
  expect(sandbox.evaluate('const Date = $.now; Date + Math.max(1, 2)', '{"now":5}')).toEqual({
    value: '7',
  });
});

test('the syntax of a script is checked without running it', () => {
  expect(sandbox.check('while (true) {}')).toBeUndefined();
  expect(sandbox.check('if (')).toContain('SyntaxError');
});
