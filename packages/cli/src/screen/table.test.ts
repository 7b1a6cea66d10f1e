import { expect, test } from 'vitest';
import { table } from './table.ts';

const ROW = ['t_1', 'e'.repeat(50), 'n'.repeat(30)];

test('the widest column of free text is cut first', () => {
  const [, row] = table(['ID', 'ERROR', 'NAME'], [ROW], 60).split('\n');

  expect(row).toBe(`t_1  ${'e'.repeat(25)}…  ${'n'.repeat(26)}…`);
});

test('a table that fits is not cut; one that cannot fit keeps ids and a part of the text', () => {
  const whole = table(['ID', 'ERROR'], [['t_1', 'e'.repeat(50)]], 55);
  const narrow = table(['ID', 'ERROR'], [['t_'.padEnd(30, '1'), 'e'.repeat(50)]], 10);

  expect(whole.split('\n')[1]).toBe(`t_1  ${'e'.repeat(50)}`);
  expect(narrow.split('\n')[1]).toBe(`${'t_'.padEnd(30, '1')}  ${'e'.repeat(11)}…`);
});

test('without a width, only very long cells are cut', () => {
  expect(table(['ERROR'], [['e'.repeat(150)]]).split('\n')[1]).toBe('e'.repeat(150));
  expect(table(['ERROR'], [['e'.repeat(300)]]).split('\n')[1]).toHaveLength(200);
});
