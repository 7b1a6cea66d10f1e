import { expect, test } from 'vitest';
import type { LogLine } from './operator-types.ts';
import { RepeatedLines } from './repeated-lines.ts';

const line = (text: string, attempt = 1): LogLine => ({ attempt, at: '2030-01-01', line: text });

function newIn(lines: RepeatedLines, ...all: LogLine[]): string[] {
  lines.begin();
  return all.filter((each) => lines.isNew(each)).map(({ attempt, line }) => `${attempt}${line}`);
}

test('lines that came before are no news, however often they are the same', () => {
  const lines = new RepeatedLines();

  expect(newIn(lines, line('a'), line('a'), line('b'))).toEqual(['1a', '1a', '1b']);
  expect(newIn(lines, line('a'), line('a'))).toEqual([]);
  expect(newIn(lines, line('a'), line('a'), line('b'), line('a'), line('a', 2))).toEqual([
    '1a',
    '2a',
  ]);
});

test('a connection that sends less than the one before hides nothing that is new', () => {
  const lines = new RepeatedLines();
  newIn(lines, line('a'), line('b'));

  expect(newIn(lines, line('b'), line('c'))).toEqual(['1c']);
  expect(newIn(lines, line('b'), line('c'), line('d'))).toEqual(['1d']);
});
