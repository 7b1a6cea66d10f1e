/** The part of the conformance suite about a full disk. */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { expect, test, vi } from 'vitest';
import type { BoundedLog, LogBatch } from '../contract/partition-log.ts';
import {
  type AppendPlace,
  appendTexts,
  batchAfter,
  LONELY_TEXTS,
  type LogFixture,
  readTexts,
} from '../testing/log-fixture.ts';

const WAIT = { timeout: 20_000 };

interface FilledLog {
  /** Texts that landed after the disk was full. */
  readonly texts: string[];
  /** The first batch that did not fit. */
  readonly refused: LogBatch;
}

/** Appends texts that are stored alone until there is no room left. */
async function fillUp(log: BoundedLog, hold: AppendPlace): Promise<FilledLog> {
  const texts: string[] = [];
  for (let tail = hold.tail; tail < hold.tail + 20; tail += 1) {
    const text = LONELY_TEXTS[tail % LONELY_TEXTS.length];
    const refused = batchAfter({ epoch: hold.epoch, tail }, { bytes: Buffer.from(text) });
    const outcome = await log.append(refused);
    if (outcome === 'full') return { texts, refused };
    expect(outcome).toBe('ok');
    texts.push(text);
  }
  return expect.fail('the log never got full');
}

export function describeFullDisk(current: () => LogFixture): void {
  test('a log with room is not full', async () => {
    const { log } = current();

    expect(log.isFull).toBe(false);
    await appendTexts(log, await log.acquire(), LONELY_TEXTS);
    expect(log.isFull).toBe(false);
  });

  test('a log without room says so, and what it accepted until then is there', async () => {
    const { log } = current();
    const hold = await log.acquire();
    await current().fillDisk();

    const { texts } = await fillUp(log, hold);

    expect(log.isFull).toBe(true);
    expect(await readTexts(log)).toEqual(texts);
  });

  test('a batch that found no room lands by the same call once there is room', async () => {
    const { log } = current();
    const hold = await log.acquire();
    await current().fillDisk();
    const { texts, refused } = await fillUp(log, hold);
    expect(await log.append(refused)).toBe('full');

    await current().freeDisk();

    await vi.waitFor(() => expect(log.isFull).toBe(false), WAIT);
    expect(await log.append(refused)).toBe('ok');
    expect(await log.append(refused)).toBe('duplicate');
    const all = [...texts, Buffer.from(refused.bytes).toString()];
    expect(await readTexts(log)).toEqual(all);
    expect(await readTexts(await current().reopen())).toEqual(all);
  });

  test('a full log still fences', async () => {
    const { log } = current();
    const hold = await log.acquire();
    await current().fillDisk();
    const { refused } = await fillUp(log, hold);

    expect(await log.append({ ...refused, epoch: hold.epoch - 1 })).toBe('fenced');
    expect(await log.append({ ...refused, expectedTail: refused.expectedTail + 1 })).toBe('fenced');
  });

  test('a full log that is opened anew has lost nothing', async () => {
    const hold = await current().log.acquire();
    await current().fillDisk();
    const { texts } = await fillUp(current().log, hold);

    const log = await current().reopen();

    expect(await readTexts(log)).toEqual(texts);
  });
}
