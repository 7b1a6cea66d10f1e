import { expect, test } from 'vitest';
import { ansiSpans } from './ansi.ts';

const ESC = '\u001b';

test('colours become styles until they are reset', () => {
  const spans = ansiSpans(`a ${ESC}[1;31mred${ESC}[0m b ${ESC}[92mgreen`);

  expect(spans).toEqual([
    { text: 'a ', style: '' },
    { text: 'red', style: 'ansi-red ansi-bold' },
    { text: ' b ', style: '' },
    { text: 'green', style: 'ansi-green' },
  ]);
});

test('sequences that move the cursor or name a link are dropped', () => {
  const text = ansiSpans(`${ESC}[2Ka${ESC}]8;;http://x${ESC}\\b${ESC}[?25l`)
    .map((span) => span.text)
    .join('');

  expect(text).not.toContain(ESC);
  expect(text.startsWith('ab')).toBe(true);
});
