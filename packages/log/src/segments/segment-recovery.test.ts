import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LogCorruptError, LogFormatError } from '../contract/log-errors.ts';
import { flipByte, OFFSETS, overwrite, TEXTS, writeLog } from '../testing/damage-fixture.ts';
import { appendTexts, readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { encodeSegmentHeader } from './segment-format.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

async function openingError(path: string): Promise<Error> {
  return await folder.open(path).then(
    () => expect.fail('the log opened'),
    (error: Error) => error,
  );
}

describe('corruption', () => {
  test('of any byte of a batch with another behind it halts and says where', async () => {
    await writeLog(folder);
    for (let offset = OFFSETS[1]; offset < OFFSETS[2]; offset += 1) {
      const copy = await folder.copy();
      const [file] = await folder.segments(copy);
      await flipByte(file, offset);

      const error = await openingError(copy);

      expect(error).toBeInstanceOf(LogCorruptError);
      expect(error).toMatchObject({ file, offset: OFFSETS[1], record: 1 });
      expect(error.message).toContain(`at record 1, byte ${OFFSETS[1]} of '${file}'`);
    }
  });

  test('of the last batch of an earlier segment halts', async () => {
    await writeLog(folder);
    const log = await folder.open();
    await log.acquire();
    await log.close();
    const [file] = await folder.segments();
    await flipByte(file, OFFSETS[2] + 41);

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogCorruptError);
    expect(error).toMatchObject({ file, offset: OFFSETS[2], record: 2 });
  });

  test('that happens while the log is open is found by the next read', async () => {
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), TEXTS);
    await flipByte((await folder.segments())[0], OFFSETS[2] + 41);
    const seen: number[] = [];

    const reading = log.read(0, (batch) => seen.push(batch.firstRecord));

    await expect(reading).rejects.toThrow(LogCorruptError);
    expect(seen).toEqual([0, 1]);
  });

  test('by a missing segment between two others halts', async () => {
    await writeLog(
      folder,
      Array.from({ length: 9 }, (_, index) => `${index}`.repeat(400)),
    );
    const segments = await folder.segments();
    await rm(segments[2]);

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogCorruptError);
    expect(error).toMatchObject({ record: 4 });
  });

  test('by a segment under a wrong name halts', async () => {
    await writeLog(folder);
    const [file] = await folder.segments();
    await rename(file, file.replace('-0000000001', '-0000000002'));

    expect(await openingError(folder.logFolder)).toBeInstanceOf(LogCorruptError);
  });

  test('of the header in front of batches halts', async () => {
    await writeLog(folder);
    await flipByte((await folder.segments())[0], 30);

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogCorruptError);
    expect(error.message).toContain('header is damaged');
  });

  test('by an epoch that goes back halts', async () => {
    await writeLog(folder);
    const header = { partition: 0, epoch: 0, baseTail: 3, segmentId: 1 };
    const file = join(folder.logFolder, '0000000000000003-0000000000.log');
    await writeFile(file, encodeSegmentHeader(header));

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogCorruptError);
    expect(error.message).toContain('its epoch 0 is lower than the 1 before it');
  });
});

describe('the header of the newest segment', () => {
  test.each([0, 1, 8, 12, 63, 64])('torn after %i bytes is forgotten', async (bytes) => {
    await writeLog(folder);
    const header = encodeSegmentHeader({ partition: 0, epoch: 2, baseTail: 3, segmentId: 1 });
    header[63] ^= 1;
    const torn = join(folder.logFolder, '0000000000000003-0000000002.log');
    await writeFile(torn, header.subarray(0, bytes));
    await appendFile(torn, Buffer.alloc(bytes % 2 === 0 ? 500 : 0));

    const log = await folder.open();

    expect(await readTexts(log)).toEqual(TEXTS);
    expect(await folder.segments()).not.toContain(torn);
    await appendTexts(log, await log.acquire(), ['later']);
    expect(await readTexts(log)).toEqual([...TEXTS, 'later']);
  });

  test('of a format that is not known is refused, whole or not', async () => {
    await writeLog(folder);
    const [file] = await folder.segments();
    await overwrite(file, 8, Buffer.from([2, 0, 0, 0, 1, 2, 3, 4]));

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogFormatError);
    expect(error.message).toContain('format version 2 is unknown; use the Sluice that wrote it');
  });

  test('of another partition is refused', async () => {
    await writeLog(folder, []);
    const header = encodeSegmentHeader({ partition: 7, epoch: 1, baseTail: 0, segmentId: 1 });
    await overwrite((await folder.segments())[0], 0, header);

    const error = await openingError(folder.logFolder);

    expect(error).toBeInstanceOf(LogFormatError);
    expect(error.message).toContain('belongs to partition 7, not 0');
  });
});
