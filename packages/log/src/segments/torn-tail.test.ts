import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LogCorruptError } from '../contract/log-errors.ts';
import {
  flipByte,
  headerOf,
  OFFSETS,
  overwrite,
  TEXTS,
  writeLog,
} from '../testing/damage-fixture.ts';
import { appendTexts, batchAfter, readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { encodeFrame, frameBytesFor, SEGMENT_HEADER_BYTES } from './segment-format.ts';
import { parseSegmentName } from './segment-name.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

/** Checks that the log continues after exactly these texts, also after another reopening. */
async function expectToGoOnAfter(path: string, texts: readonly string[]): Promise<void> {
  const log = await folder.open(path);
  expect(await readTexts(log)).toEqual(texts);
  const hold = await log.acquire();
  expect(hold.tail).toBe(texts.length);
  await appendTexts(log, hold, ['appended later']);
  await log.close();

  const again = await folder.open(path);
  expect(await readTexts(again)).toEqual([...texts, 'appended later']);
  await again.close();
}

/** How many of the texts a segment still holds completely when its file ends at `cut`. */
function wholeFramesBefore(cut: number, texts: readonly string[]): number {
  let end = SEGMENT_HEADER_BYTES;
  return texts.filter((text) => {
    end += frameBytesFor(Buffer.byteLength(text));
    return end <= cut;
  }).length;
}

describe('a torn tail', () => {
  test('is cut wherever the file ends inside the last batch', async () => {
    await writeLog(folder);
    for (let length = OFFSETS[2]; length < OFFSETS[3]; length += 1) {
      const copy = await folder.copy();
      await truncate((await folder.segments(copy))[0], length);

      await expectToGoOnAfter(copy, TEXTS.slice(0, 2));
    }
  });

  test('is cut wherever zeros begin inside the last batch', async () => {
    await writeLog(folder);
    const [original] = await folder.segments();
    const whole = await readFile(original);
    // The padding of the last frame is zero anyway, so the batch is complete without it.
    const lastContentByte = OFFSETS[2] + 40 + TEXTS[2].length;
    for (let length = OFFSETS[2]; length < lastContentByte; length += 1) {
      const copy = await folder.copy();
      const [file] = await folder.segments(copy);
      await writeFile(file, Buffer.from(whole).fill(0, length));

      await expectToGoOnAfter(copy, TEXTS.slice(0, 2));
    }
  });

  test('is cut whichever byte of the last batch is damaged', async () => {
    await writeLog(folder);
    for (let offset = OFFSETS[2]; offset < OFFSETS[3]; offset += 1) {
      const copy = await folder.copy();
      await flipByte((await folder.segments(copy))[0], offset);

      await expectToGoOnAfter(copy, TEXTS.slice(0, 2));
    }
  });

  test('at any point of any log leaves exactly the batches before it', async () => {
    const batches = fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), async (texts, seed) => {
        const temp = await TempFolder.create();
        const log = await temp.open();
        await appendTexts(log, await log.acquire(), texts);
        await log.close();
        const last = (await temp.segments()).at(-1)!;
        const { size } = await stat(last);
        const cut = SEGMENT_HEADER_BYTES + (seed % (size - SEGMENT_HEADER_BYTES));
        await truncate(last, cut);

        const recovered = await temp.open();

        const { baseTail } = parseSegmentName(basename(last))!;
        const whole = wholeFramesBefore(cut, texts.slice(baseTail));
        expect(await readTexts(recovered)).toEqual(texts.slice(0, baseTail + whole));
        await temp.dispose();
      }),
      { numRuns: 40 },
    );
  });

  test('stays unread behind a later segment, even if a whole batch stands there', async () => {
    await writeLog(folder);
    const copy = await folder.copy();
    await truncate((await folder.segments())[0], OFFSETS[2]);
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), ['the other last one']);
    await log.close();
    // The older segment as it was before it was truncated, with the batch that was cut off.
    await writeFile((await folder.segments())[0], await readFile((await folder.segments(copy))[0]));

    await expectToGoOnAfter(folder.logFolder, [...TEXTS.slice(0, 2), 'the other last one']);
  });

  test('whose payload holds a frame of another segment is still a torn tail', async () => {
    await writeLog(folder);
    const frame = (await readFile((await folder.segments())[0])).subarray(OFFSETS[1], OFFSETS[2]);
    const other = join(folder.path, 'other');
    const log = await folder.open(other);
    await appendTexts(log, await log.acquire(), ['x'.repeat(200)]);
    await log.close();

    await overwrite((await folder.segments(other))[0], OFFSETS[0] + 40, frame);

    await expectToGoOnAfter(other, []);
  });

  test('whose payload holds an earlier frame of its own segment is still one', async () => {
    await writeLog(folder, [...TEXTS, 'x'.repeat(200)]);
    const [file] = await folder.segments();
    const frame = (await readFile(file)).subarray(OFFSETS[1], OFFSETS[2]);

    await overwrite(file, OFFSETS[3] + 40, frame);

    await expectToGoOnAfter(folder.logFolder, TEXTS);
  });

  test('with a later frame of its own segment behind it is corruption', async () => {
    await writeLog(folder, [...TEXTS, 'x'.repeat(200)]);
    const [file] = await folder.segments();
    const { segmentId } = headerOf(await readFile(file));
    const frame = Buffer.alloc(frameBytesFor(1));
    encodeFrame(frame, segmentId, batchAfter({ epoch: 1, tail: 4 }, { bytes: Buffer.from('y') }));

    await overwrite(file, OFFSETS[3] + 40, frame);

    await expect(folder.open()).rejects.toThrow(LogCorruptError);
  });
});
