/** The part of the conformance suite about reading, immediately and after reopening. */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { expect, test } from 'vitest';
import { STOP_READING, type StoredBatch } from '../contract/partition-log.ts';
import {
  appendTexts,
  batchAfter,
  LONELY_TEXTS,
  type LogFixture,
  readTexts,
} from '../testing/log-fixture.ts';

export function describeReads(current: () => LogFixture): void {
  test('an empty log has nothing to read', async () => {
    const { log } = current();

    expect(await readTexts(log)).toEqual([]);
    await log.acquire();
    expect(await readTexts(log)).toEqual([]);
  });

  test('a read starts with the batch that holds the record', async () => {
    const { log } = current();
    const { epoch } = await log.acquire();
    for (const [index, text] of ['0-2', '3-5', '6-8'].entries()) {
      const fields = { recordCount: 3, bytes: Buffer.from(text) };
      await log.append(batchAfter({ epoch, tail: index * 3 }, fields));
    }

    expect(await readTexts(log, 3)).toEqual(['3-5', '6-8']);
    expect(await readTexts(log, 5)).toEqual(['3-5', '6-8']);
    expect(await readTexts(log, 6)).toEqual(['6-8']);
    expect(await readTexts(log, 9)).toEqual([]);
  });

  test.each([2, -1, 0.5])('a read from record %f of one is refused', async (from) => {
    const { log } = current();
    await appendTexts(log, await log.acquire(), ['only']);

    await expect(readTexts(log, from)).rejects.toThrow(RangeError);
  });

  test('a read during appends sees a prefix that holds all that was committed before', async () => {
    const { log } = current();
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
    const hold = await appendTexts(log, await log.acquire(), texts.slice(0, 3));

    const [seen] = await Promise.all([readTexts(log), appendTexts(log, hold, texts.slice(3))]);

    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen).toEqual(texts.slice(0, seen.length));
  });

  test('a read ends behind the batch that is enough, and may begin there again', async () => {
    const { log } = current();
    const hold = await log.acquire();
    await appendTexts(log, hold, ['a', 'b', ...LONELY_TEXTS, 'z']);
    const seen: string[] = [];
    const takeTwo = ({ bytes }: StoredBatch) => {
      seen.push(Buffer.from(bytes).toString());
      return seen.length % 2 === 0 ? STOP_READING : undefined;
    };

    for (let from = 0; from < LONELY_TEXTS.length + 3; from += 2) await log.read(from, takeTwo);

    expect(seen).toEqual(['a', 'b', ...LONELY_TEXTS, 'z']);
  });

  test('what the callback throws ends the read and comes out of it', async () => {
    const { log } = current();
    await appendTexts(log, await log.acquire(), ['a', 'b']);
    let calls = 0;

    const reading = log.read(0, () => {
      calls += 1;
      throw new Error('enough');
    });

    await expect(reading).rejects.toThrow('enough');
    expect(calls).toBe(1);
  });
}

export function describeReopening(current: () => LogFixture): void {
  test('a log that is opened anew has kept everything', async () => {
    const hold = await current().log.acquire();
    await appendTexts(current().log, hold, ['a', 'b']);

    const log = await current().reopen();

    expect(await readTexts(log)).toEqual(['a', 'b']);
    const next = await log.acquire();
    expect(next.tail).toBe(2);
    expect(next.epoch).toBeGreaterThan(hold.epoch);
  });

  test('a hold does not outlive the log that gave it', async () => {
    const hold = await current().log.acquire();

    const log = await current().reopen();
    await log.acquire();

    expect(await log.append(batchAfter(hold))).toBe('fenced');
  });

  test('epochs grow over many holds that wrote nothing', async () => {
    const epochs: number[] = [];
    let log = current().log;
    for (let round = 0; round < 4; round += 1) {
      epochs.push((await log.acquire()).epoch, (await log.acquire()).epoch);
      log = await current().reopen();
    }

    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
    expect(await readTexts(log)).toEqual([]);
  });

  test('a closed log refuses every call', async () => {
    const { log } = current();
    const hold = await log.acquire();
    await log.close();

    await expect(log.append(batchAfter(hold))).rejects.toThrow('closed');
    await expect(log.acquire()).rejects.toThrow('closed');
    await expect(readTexts(log)).rejects.toThrow('closed');
    await log.close();
  });
}
