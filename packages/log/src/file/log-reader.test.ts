import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendTexts, batchAfter, LONELY_TEXTS } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { readLogFolder } from './log-reader.ts';

let temp: TempFolder;

beforeEach(async () => {
  temp = await TempFolder.create();
});

afterEach(() => temp.dispose());

test('what is committed is read while another holds the log', async () => {
  const log = await temp.open();
  const { tail } = await appendTexts(log, await log.acquire(), LONELY_TEXTS);

  expect(await read(0, tail)).toEqual(LONELY_TEXTS);
  expect(await read(2, tail)).toEqual(LONELY_TEXTS.slice(2));
  expect(await temp.segments()).toHaveLength(LONELY_TEXTS.length);
});

test('nothing behind the named end is read, though it is in the same segment', async () => {
  const log = await temp.open();
  await appendTexts(log, await log.acquire(), ['a', 'b', 'c', 'd']);

  expect(await read(0, 2)).toEqual(['a', 'b']);
  expect(await read(1, 3)).toEqual(['b', 'c']);
  expect(await read(3, 3)).toEqual([]);
});

test('records of several epochs are read as one log', async () => {
  const log = await temp.open();
  await appendTexts(log, await log.acquire(), ['a', 'b']);
  await log.acquire();
  await appendTexts(log, await log.acquire(), ['c']);

  expect(await read(0, 3)).toEqual(['a', 'b', 'c']);
});

test('a segment that begins behind the end is not looked at', async () => {
  const log = await temp.open();
  await appendTexts(log, await log.acquire(), ['a']);
  await writeFile(join(temp.logFolder, '0000000000000001-0000000009.log'), 'garbage');

  expect(await read(0, 1)).toEqual(['a']);
});

test('what was trimmed cannot be read', async () => {
  const log = await temp.open();
  const hold = await log.acquire();
  const { tail } = await appendTexts(log, hold, LONELY_TEXTS);
  await log.trim({ epoch: hold.epoch, upTo: 3 });

  await expect(read(0, tail)).rejects.toThrow(/starts with record 3/);
  expect(await read(3, tail)).toEqual(LONELY_TEXTS.slice(3));
});

test('an end past what the folder holds is an error, not a shorter log', async () => {
  const log = await temp.open();
  await appendTexts(log, await log.acquire(), ['a']);

  await expect(read(0, 2)).rejects.toThrow(/corrupt at record 1/);
});

test('a batch of several records comes whole', async () => {
  const log = await temp.open();
  const hold = await log.acquire();
  await log.append(batchAfter(hold, { recordCount: 5, bytes: Buffer.from('five') }));

  expect(await read(3, 5)).toEqual(['five']);
});

async function read(from: number, upTo: number): Promise<string[]> {
  const texts: string[] = [];
  await readLogFolder(temp.logFolder, {
    from,
    upTo,
    onBatch: ({ bytes }) => texts.push(Buffer.from(bytes).toString()),
  });
  return texts;
}
