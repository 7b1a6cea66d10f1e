import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LogCorruptError } from '../contract/log-errors.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { appendTexts, readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { frameBytesFor, SEGMENT_HEADER_BYTES } from './segment-format.ts';
import { recoverSegments } from './segment-recovery.ts';

const SEED = 20_261_115;
const RANDOM_OFFSETS = 1000;
const TEXTS = Array.from({ length: 60 }, (_, index) => `text ${index} `.repeat(1 + (index % 9)));
const LAST_FRAME_BYTES = frameBytesFor(TEXTS.at(-1)!.length);

/** The result of opening the log after one byte was changed. */
type Finding =
  | { readonly kind: 'whole' }
  | { readonly kind: 'last batch cut' }
  | { readonly kind: 'halted'; readonly file: string };

let folder: TempFolder;
/** The segments as written; the last one ends with the last batch and spare room. */
let originals: { readonly file: string; readonly bytes: Buffer }[];
let lastBatchOffset: number;
beforeEach(async () => {
  folder = await TempFolder.create();
  const log = await folder.open();
  const hold = await appendTexts(log, await log.acquire(), TEXTS.slice(0, 30));
  await log.acquire();
  await appendTexts(log, { epoch: hold.epoch + 1, tail: 30 }, TEXTS.slice(30));
  await log.close();
  const copy = await folder.copy();
  originals = [];
  for (const path of await folder.segments(copy)) {
    originals.push({ file: basename(path), bytes: await readFile(path) });
  }
  const last = await recoverSegments(nodeDisk, copy).then(({ segments }) => segments.at(-1)!);
  lastBatchOffset = last.usedBytes - LAST_FRAME_BYTES;
});
afterEach(async () => {
  await folder.dispose();
});

/** Opens a copy of the log with one byte changed. */
async function findAfterFlip(index: number, offset: number, mask: number): Promise<Finding> {
  const target = join(folder.path, 'flipped');
  await rm(target, { recursive: true, force: true });
  await mkdir(target);
  for (const { file, bytes } of originals) await writeFile(join(target, file), bytes);
  const changed = Buffer.from(originals[index].bytes);
  changed[offset] ^= mask;
  await writeFile(join(target, originals[index].file), changed);

  try {
    const log = await folder.open(target);
    const texts = await readTexts(log);
    await log.close();
    if (texts.length === TEXTS.length) {
      expect(texts).toEqual(TEXTS);
      return { kind: 'whole' };
    }
    expect(texts).toEqual(TEXTS.slice(0, -1));
    return { kind: 'last batch cut' };
  } catch (error) {
    if (!(error instanceof LogCorruptError)) throw error;
    expect(error.message).toContain(`at record ${error.record}, byte ${error.offset} of`);
    expect(error.record).toBeGreaterThanOrEqual(0);
    expect(error.record).toBeLessThan(TEXTS.length);
    expect(error.offset).toBeLessThanOrEqual(offset);
    return { kind: 'halted', file: basename(error.file) };
  }
}

describe('a flipped byte', () => {
  test('anywhere in a header halts in that file', async () => {
    for (const index of [0, originals.length - 1]) {
      for (let offset = 0; offset < SEGMENT_HEADER_BYTES; offset += 1) {
        const finding = await findAfterFlip(index, offset, 0x11);

        expect(finding).toEqual({ kind: 'halted', file: originals[index].file });
      }
    }
  });

  test('anywhere in the last batch cuts that batch', async () => {
    const index = originals.length - 1;
    for (let step = 0; step < LAST_FRAME_BYTES; step += 1) {
      const finding = await findAfterFlip(index, lastBatchOffset + step, 0xff);

      expect(finding).toEqual({ kind: 'last batch cut' });
    }
  });

  test(`at ${RANDOM_OFFSETS} other places halts in that file or changes nothing`, async () => {
    const place = fc.record({
      index: fc.nat({ max: originals.length - 1 }),
      share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      mask: fc.integer({ min: 1, max: 255 }),
    });
    const counts = { whole: 0, halted: 0 };

    for (const { index, share, mask } of fc.sample(place, {
      numRuns: RANDOM_OFFSETS,
      seed: SEED,
    })) {
      const { file, bytes } = originals[index];
      const isLast = index === originals.length - 1;
      const offset = Math.floor(share * (isLast ? lastBatchOffset : bytes.length));
      const finding = await findAfterFlip(index, offset, mask);

      if (finding.kind === 'halted') expect(finding.file).toBe(file);
      else expect(finding.kind).toBe('whole');
      counts[finding.kind as keyof typeof counts] += 1;
    }

    // Only room behind the frames of a full segment may change unnoticed.
    expect(counts.halted).toBeGreaterThan(RANDOM_OFFSETS / 2);
    expect(counts.halted + counts.whole).toBe(RANDOM_OFFSETS);
  });

  test('behind the last batch changes nothing', async () => {
    const index = originals.length - 1;
    const from = lastBatchOffset + LAST_FRAME_BYTES;
    for (let offset = from; offset < originals[index].bytes.length; offset += 7) {
      expect(await findAfterFlip(index, offset, 0xff)).toEqual({ kind: 'whole' });
    }
  });
});
