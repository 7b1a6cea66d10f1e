import { LIMITS } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { PayloadScratch } from './payload-scratch.ts';

const DEPTH_MAX = LIMITS.payloadDepthMax;

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
  expect(() => add(nested(DEPTH_MAX, open, close))).not.toThrow();
  expect(() => add(nested(DEPTH_MAX + 1, open, close))).toThrow(
    `/input is nested too deeply: ${DEPTH_MAX} levels are taken`,
  );
});

test('brackets in texts, and those that are closed again, do not count', () => {
  const brackets = '["\\{'.repeat(DEPTH_MAX);
  const flat = Array.from({ length: DEPTH_MAX * 2 }, () => ({ [brackets.slice(0, 9)]: [] }));

  expect(() => add({ [brackets]: brackets, flat })).not.toThrow();
});

test('what is deeper than any stack is refused like the rest', () => {
  expect(() => add(nested(500_000, '[', ']'))).toThrow('is nested too deeply');
});
