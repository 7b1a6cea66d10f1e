import { expect, test } from 'vitest';
import { JSON_DEPTH_MAX, PayloadScratch } from './payload-scratch.ts';

function nested(levels: number, open: string, close: string): unknown {
  return JSON.parse(open.repeat(levels) + close.repeat(levels).replace(/^/, 'null'));
}

function add(value: unknown): void {
  const scratch = new PayloadScratch();
  scratch.begin(() => '/input');
  scratch.add('the payload before it');
  scratch.add(value);
}

test.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
])('%s may be nested so deep and no deeper', (_name, open, close) => {
  expect(() => add(nested(JSON_DEPTH_MAX, open, close))).not.toThrow();
  expect(() => add(nested(JSON_DEPTH_MAX + 1, open, close))).toThrow(
    `/input is nested too deeply: ${JSON_DEPTH_MAX} levels are taken`,
  );
});

test('brackets in texts, and those that are closed again, do not count', () => {
  const brackets = '["\\{'.repeat(JSON_DEPTH_MAX);
  const flat = Array.from({ length: JSON_DEPTH_MAX * 2 }, () => ({ [brackets.slice(0, 9)]: [] }));

  expect(() => add({ [brackets]: brackets, flat })).not.toThrow();
});

test('what is deeper than any stack is refused like the rest', () => {
  expect(() => add(nested(500_000, '[', ']'))).toThrow('is nested too deeply');
});
