import { rm, truncate, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogCorruptError, LogFailedError } from '../contract/log-errors.ts';
import type { FileLog } from '../file/file-log.ts';
import { appendTexts, LONELY_TEXTS, readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';

const TAIL = LONELY_TEXTS.length;

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

async function openFilled(): Promise<{ log: FileLog; epoch: number }> {
  const log = await folder.open();
  const { epoch } = await appendTexts(log, await log.acquire(), LONELY_TEXTS);
  return { log, epoch };
}

test('only segments that end at or before the record go', async () => {
  const { log, epoch } = await openFilled();
  const before = await folder.segments();

  await log.trim({ epoch, upTo: 3 });

  expect(await folder.segments()).toEqual(before.slice(3));
});

test('the segment that is being written stays, though all of its records may go', async () => {
  const { log, epoch } = await openFilled();
  const last = (await folder.segments()).at(-1);

  await log.trim({ epoch, upTo: TAIL });

  expect(await folder.segments()).toEqual([last]);
  expect(await readTexts(log, TAIL - 1)).toEqual(LONELY_TEXTS.slice(-1));
});

test('a crash between any two removals leaves a log without a gap', async () => {
  await openFilled();
  for (let removed = 0; removed < TAIL; removed += 1) {
    const copy = await folder.copy();
    for (const segment of (await folder.segments(copy)).slice(0, removed)) await rm(segment);

    const log = await folder.open(copy);

    expect(await readTexts(log, removed)).toEqual(LONELY_TEXTS.slice(removed));
    expect(await log.acquire()).toMatchObject({ first: removed, tail: TAIL });
  }
});

test('a gap between the segments that are left is corruption', async () => {
  const { log, epoch } = await openFilled();
  await log.trim({ epoch, upTo: 2 });
  await log.close();
  await rm((await folder.segments())[1]);

  const opening = folder.open();

  await expect(opening).rejects.toThrow(LogCorruptError);
  await expect(opening).rejects.toMatchObject({ record: 3 });
});

test.each(['a torn header', 'no bytes'])('the only segment left with %s halts', async (damage) => {
  const { log } = await openFilled();
  const { epoch } = await log.acquire();
  await log.trim({ epoch, upTo: TAIL });
  await log.close();
  const [only, ...rest] = await folder.segments();
  if (damage === 'no bytes') await truncate(only, 0);
  else await writeFile(only, Buffer.alloc(1024));

  const opening = folder.open();

  expect(rest).toEqual([]);
  expect(basename(only)).toBe('0000000000000006-0000000002.log');
  await expect(opening).rejects.toThrow(LogCorruptError);
  await expect(opening).rejects.toMatchObject({ file: only, offset: 0, record: TAIL });
});

test('a trim that the disk refuses ends the log', async () => {
  const { log, epoch } = await openFilled();
  await rm((await folder.segments())[0]);

  await expect(log.trim({ epoch, upTo: 3 })).rejects.toThrow(LogFailedError);

  await expect(log.acquire()).rejects.toThrow(LogFailedError);
  await expect(log.trim({ epoch, upTo: 3 })).rejects.toThrow(LogFailedError);
});
