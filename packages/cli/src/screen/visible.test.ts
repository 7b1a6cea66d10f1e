import { expect, test } from 'vitest';
import { stylesFor } from './styles.ts';
import { table } from './table.ts';
import { printable, visible } from './visible.ts';

const RED = '\u001b[31m';
const ALL_CONTROLS = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => /\p{Cc}/u.test(character),
);

test('a text of somebody else holds nothing that a terminal obeys, and stays on its line', () => {
  const shown = visible(`a${RED}b\u009b2J\u007f\r\nc\td`);

  expect(shown).toBe('a\\u001b[31mb\\u009b2J\\u007f\\r\\nc\td');
});

test('no text can change the order in which a terminal shows the rest of its line', () => {
  const marks = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';

  const printed = visible(`a${marks}\u2028\u2029`) + printable(marks, { hasStyles: true });

  expect(printed).toMatch(/^[\x20-\x7e]*$/);
  expect(visible('עברית العربية é 😀')).toBe('עברית العربية é 😀');
});

test('of all control characters, only a tab and the ends of lines are printed', () => {
  expect(ALL_CONTROLS).toHaveLength(65);

  const printed = printable(ALL_CONTROLS.join(''), { hasStyles: true });

  expect(printed.replaceAll(/\P{Cc}/gu, '')).toBe('\t\n');
});

test('colours of our own are printed on a terminal, and no other sequences', () => {
  const { red } = stylesFor({ isTerminal: true, env: {} });
  const text = `${red('bad')}\u001b[8mhidden\u001b]0;title\u0007`;

  expect(printable(text, { hasStyles: true })).toBe(
    `${red('bad')}\\u001b[8mhidden\\u001b]0;title\\u0007`,
  );
  expect(printable(red('bad'), { hasStyles: false })).toBe('\\u001b[31mbad\\u001b[39m');
});

test('JSON is printed as the same JSON', () => {
  const value = { name: `${RED}\u0085\u007f\n`, 'key\u009b': 1 };

  expect(JSON.parse(printable(JSON.stringify(value, null, 2), { hasStyles: false }))).toEqual(
    value,
  );
});

test('a cell of a table cannot begin a row, or colour one', () => {
  expect(table(['NAME'], [[`one\ntwo${RED}`]])).toBe('NAME\none two\\u001b[31m');
});
