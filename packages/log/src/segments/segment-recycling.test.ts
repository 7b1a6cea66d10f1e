import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FileLog } from '../file/file-log.ts';
import { headerOf } from '../testing/damage-fixture.ts';
import { appendTexts, LONELY_TEXTS, readTexts } from '../testing/log-fixture.ts';
import { SMALL_SEGMENT_BYTES, TempFolder } from '../testing/temp-folder-fixture.ts';
import { decodeFrame, encodeFrame, frameBytesFor, SEGMENT_HEADER_BYTES } from './segment-format.ts';

const WAIT = { timeout: 20_000 };

const FRAME_MAGIC = 'SLBF';
const OLD_TEXTS = Array.from({ length: 40 }, (_, index) => `old ${index} `.repeat(3));
const NEW_TEXT = 'a new batch, of another length than those before it: '.repeat(3);

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

interface Recycled {
  readonly log: FileLog;
  readonly hold: { readonly epoch: number; readonly tail: number };
  /** The segment being written: a header, one frame, then frames of the previous segment. */
  readonly path: string;
}

/** A log that has just begun to write into a file full of old frames of the same epoch. */
async function writeIntoRecycled(): Promise<Recycled> {
  const log = await folder.open();
  let hold = await appendTexts(log, await log.acquire(), OLD_TEXTS);
  await log.trim({ epoch: hold.epoch, upTo: hold.tail });
  for (let round = 0; round < 100; round += 1) {
    hold = await appendTexts(log, hold, ['short']);
    const path = (await folder.segments()).at(-1)!;
    const bytes = await readFile(path);
    const first = SEGMENT_HEADER_BYTES + frameBytesFor('short'.length);
    const { baseTail } = headerOf(bytes);
    const isBegun = baseTail === hold.tail - 1;
    if (isBegun && bytes.includes(FRAME_MAGIC, first)) return { log, hold, path };
  }
  return expect.fail('no segment was recycled');
}

/** The old frames of the file as they would be if both segments had the same id. */
function withOwnId(bytes: Buffer, segmentId: number): Buffer {
  const changed = Buffer.from(bytes);
  let offset = bytes.indexOf(FRAME_MAGIC, SEGMENT_HEADER_BYTES);
  while (offset !== -1) {
    const header = { ...headerOf(bytes), segmentId: bytes.readUInt32LE(offset + 20) };
    const frame = decodeFrame(bytes, offset, header);
    if (frame !== undefined) {
      encodeFrame(changed.subarray(offset), segmentId, {
        ...frame,
        expectedTail: frame.firstRecord,
      });
    }
    offset = bytes.indexOf(FRAME_MAGIC, offset + 1);
  }
  return changed;
}

test.each([
  { title: 'with an id of their own', change: (bytes: Buffer) => bytes },
  {
    title: 'with the same id by chance',
    change: (bytes: Buffer) => withOwnId(bytes, headerOf(bytes).segmentId),
  },
])('old frames $title are never read, wherever a new batch is torn', async ({ change }) => {
  const { log, hold, path } = await writeIntoRecycled();
  const before = change(await readFile(path));
  const from = SEGMENT_HEADER_BYTES + frameBytesFor('short'.length);
  const texts = await readTexts(log, hold.tail - 1);
  await appendTexts(log, hold, [NEW_TEXT]);
  const after = await readFile(path);
  await log.close();
  const frameBytes = frameBytesFor(NEW_TEXT.length);

  for (let landed = 0; landed <= frameBytes; landed += 1) {
    const torn = Buffer.from(before);
    after.copy(torn, from, from, from + landed);
    await writeFile(path, torn);
    const isWhole = torn
      .subarray(from, from + frameBytes)
      .equals(after.subarray(from, from + frameBytes));

    const copy = await folder.copy();
    const recovered = await folder.open(copy);

    expect(await readTexts(recovered, hold.tail - 1)).toEqual(
      isWhole ? [...texts, NEW_TEXT] : texts,
    );
    expect((await recovered.acquire()).tail).toBe(hold.tail + (isWhole ? 1 : 0));
    await recovered.close();
  }
  expect(from + frameBytes).toBeLessThan(SMALL_SEGMENT_BYTES);
});

test('under a steady load with trims no file is made and none is lost', async () => {
  const log = await folder.open();
  let hold = await appendTexts(log, await log.acquire(), LONELY_TEXTS);
  await log.trim({ epoch: hold.epoch, upTo: hold.tail });
  const inodes = await inodesOf(folder.logFolder);

  for (let round = 0; round < 20; round += 1) {
    hold = await appendTexts(log, hold, LONELY_TEXTS.slice(0, 2));
    await log.trim({ epoch: hold.epoch, upTo: hold.tail });
  }

  expect(await inodesOf(folder.logFolder)).toEqual(inodes);
  expect(await readTexts(log, hold.tail - 1)).toEqual(LONELY_TEXTS.slice(1, 2));
});

/** The inodes of the files, once no file is in preparation. */
async function inodesOf(path: string): Promise<number[]> {
  return await vi.waitFor(async () => {
    const files = await readdir(path);
    expect(files).not.toContain('next.tmp');
    const stats = await Promise.all(files.map((file) => stat(`${path}/${file}`)));
    return stats.map(({ ino }) => ino).sort((a, b) => a - b);
  }, WAIT);
}

test('the empty segment of a holder that wrote nothing is used again', async () => {
  const log = await folder.open();
  await log.acquire();
  const { ino } = await stat((await folder.segments())[0]);

  await log.acquire();

  const inodes = await inodesOf(folder.logFolder);
  expect(inodes).toContain(ino);
  expect(await folder.segments()).toHaveLength(1);
});
