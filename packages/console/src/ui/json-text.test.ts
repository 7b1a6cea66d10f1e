import { expect, test } from 'vitest';
import { clipped, oneLine, pictureOf, visible } from './json-text.ts';

test('characters that hide or turn others become visible', () => {
  expect(visible('user\u202egnp.exe')).toBe('user\\u{202e}gnp.exe');
  expect(visible('a\u0000b\u200bc\u2028')).toBe('a\\u{0}b\\u{200b}c\\u{2028}');
  expect(visible('line\n\ttab, ä, 漢, 👋')).toBe('line\n\ttab, ä, 漢, 👋');
});

test('a value on one line is short', () => {
  expect(oneLine({ a: 'x'.repeat(1000) }, 20)).toHaveLength(21);
  expect(oneLine(undefined)).toBe('');
  expect(clipped('abc', 3)).toBe('abc');
});

test('only pictures are shown as pictures', () => {
  expect(pictureOf('<svg xmlns="x"></svg>')).toMatch(/^data:image\/svg\+xml/);
  expect(pictureOf('data:image/png;base64,AAAA')).toBe('data:image/png;base64,AAAA');
  for (const text of ['data:text/html,<script>', '<script>', 'https://example.com/a.png', 7]) {
    expect(pictureOf(text)).toBeUndefined();
  }
});
