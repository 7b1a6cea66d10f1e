/**
 * The contract of `PartitionLog`, as a suite that every engine runs. It imports vitest, so it is
 * exported as `@sluice/log/conformance` and not through the index.
 */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  appendTexts,
  batchAfter,
  type LogFixture,
  readBatches,
  readTexts,
} from '../testing/log-fixture.ts';
import {
  describeDelayedLandings,
  describeOverlaps,
  describeRaces,
  describeUnknowns,
} from './conformance-delays.ts';
import { describeFencing, describeHandover, describeRepeats } from './conformance-fencing.ts';
import { describeFullDisk } from './conformance-full-disk.ts';
import { describeReads, describeReopening } from './conformance-reading.ts';
import {
  describeRepeatedTrims,
  describeTrimFencing,
  describeTrimOverlaps,
  describeTrims,
} from './conformance-trimming.ts';

export function describeLogConformance(
  engine: string,
  makeFixture: () => Promise<LogFixture>,
): void {
  describe(`the ${engine} log conforms`, () => {
    let fixture: LogFixture;
    beforeEach(async () => {
      fixture = await makeFixture();
    });
    afterEach(async () => {
      await fixture.dispose();
    });

    describeAppends(() => fixture);
    describeAppendLimits(() => fixture);
    describeFencing(() => fixture);
    describeHandover(() => fixture);
    describeRepeats(() => fixture);
    describeDelayedLandings(() => fixture);
    describeUnknowns(() => fixture);
    describeRaces(() => fixture);
    describeOverlaps(() => fixture);
    describeReads(() => fixture);
    describeReopening(() => fixture);
    describeFullDisk(() => fixture);
    describeTrims(() => fixture);
    describeRepeatedTrims(() => fixture);
    describeTrimFencing(() => fixture);
    describeTrimOverlaps(() => fixture);
  });
}

function describeAppends(current: () => LogFixture): void {
  test('the first hold of an empty log starts at record 0', async () => {
    const hold = await current().log.acquire();

    expect(hold.tail).toBe(0);
    expect(hold.epoch).toBeGreaterThan(0);
  });

  test('an accepted batch is read back as it was', async () => {
    const { log } = current();
    const hold = await log.acquire();

    const outcome = await log.append(
      batchAfter(hold, { recordCount: 3, bytes: Buffer.from('three records') }),
    );

    expect(outcome).toBe('ok');
    const { epoch } = hold;
    expect(await readBatches(log)).toEqual([
      { firstRecord: 0, recordCount: 3, epoch, text: 'three records' },
    ]);
  });

  test('batches are read in the order of their appends', async () => {
    const { log } = current();

    await appendTexts(log, await log.acquire(), ['a', 'b', 'c']);

    expect(await readTexts(log)).toEqual(['a', 'b', 'c']);
  });

  test('a batch without bytes is a batch', async () => {
    const { log } = current();

    await appendTexts(log, await log.acquire(), ['', 'x', '']);

    expect(await readTexts(log)).toEqual(['', 'x', '']);
  });

  test('a batch of three megabytes is kept whole', async () => {
    const { log } = current();
    const large = 'sluice '.repeat(450_000);

    await appendTexts(log, await log.acquire(), ['before', large, 'after']);

    expect((await readTexts(log)).map((text) => text.length)).toEqual([6, large.length, 5]);
    expect((await readTexts(log))[1] === large).toBe(true);
  });

  test('hundreds of batches stay in order', async () => {
    const { log } = current();
    const texts = Array.from({ length: 300 }, (_, index) => `${index} `.repeat(index % 50));

    await appendTexts(log, await log.acquire(), texts);

    expect(await readTexts(log)).toEqual(texts);
  });
}

function describeAppendLimits(current: () => LogFixture): void {
  test('the caller may reuse its bytes once the append has answered', async () => {
    const { log } = current();
    const bytes = Buffer.from('first');
    await log.append(batchAfter(await log.acquire(), { bytes }));

    bytes.fill('x');

    expect(await readTexts(log)).toEqual(['first']);
  });

  test('a second append is refused while one is outstanding', async () => {
    const { log } = current();
    const hold = await log.acquire();
    const first = log.append(batchAfter(hold, { bytes: Buffer.from('first') }));

    await expect(log.append(batchAfter(hold))).rejects.toThrow('an append is outstanding');

    expect(await first).toBe('ok');
    expect(await readTexts(log)).toEqual(['first']);
  });

  test.each([{ recordCount: 0 }, { recordCount: 1.5 }, { nonce: -1 }, { nonce: 2 ** 53 }])(
    'a batch with %o is refused and leaves no trace',
    async (fields) => {
      const { log } = current();
      const hold = await log.acquire();

      await expect(log.append(batchAfter(hold, fields))).rejects.toThrow(RangeError);

      expect(await log.append(batchAfter(hold))).toBe('ok');
    },
  );
}
