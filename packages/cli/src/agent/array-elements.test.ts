import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandFor, ELEMENTS_MAX, elementsOf } from './array-elements.ts';

test.each([
  ['1-3', ['1', '2', '3']],
  ['7-7', ['7']],
  ['1-10:4', ['1', '5', '9']],
  ['a,b', ['a', 'b']],
  ['1-2,x,9-9', ['1', '2', 'x', '9']],
  ['clip-1.mp4', ['clip-1.mp4']],
])('%s stands for %j', async (text, elements) => {
  expect(await elementsOf(text)).toEqual(elements);
});

test.each([
  ['3-1', 'is no range'],
  ['1-9:0', 'is no range'],
  ['', 'nothing between two commas'],
  ['a,,b', 'nothing between two commas'],
  ['1-999999999', `at most ${ELEMENTS_MAX}`],
  ['@/nowhere/at/all', 'cannot read the file'],
])('%s is refused: %s', async (text, message) => {
  await expect(elementsOf(text)).rejects.toThrow(message);
});

test('a file has an element in each line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-array-'));
  try {
    await writeFile(join(folder, 'list'), 'a b\r\n\nc\n');
    await writeFile(join(folder, 'empty'), '\n');

    expect(await elementsOf(`@${join(folder, 'list')}`)).toEqual(['a b', 'c']);
    await expect(elementsOf(`@${join(folder, 'empty')}`)).rejects.toThrow('has no elements');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an element takes the place of {}, or stands at the end', () => {
  expect(commandFor(['render', '{}', '-o', 'out/{}.png'], '7')).toEqual([
    'render',
    '7',
    '-o',
    'out/7.png',
  ]);
  expect(commandFor(['echo'], 'a b; id')).toEqual(['echo', 'a b; id']);
});
