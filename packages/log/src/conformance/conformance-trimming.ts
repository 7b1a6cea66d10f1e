/** The part of the conformance suite about records that are no longer needed. */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { expect, test } from 'vitest';
import { LogTrimmedError } from '../contract/log-errors.ts';
import type { BoundedLog } from '../contract/partition-log.ts';
import {
  appendTexts,
  batchAfter,
  LONELY_TEXTS,
  type LogFixture,
  readTexts,
} from '../testing/log-fixture.ts';

const TAIL = LONELY_TEXTS.length;

/** Appends texts that are stored one by one, so that each of them can be trimmed alone. */
async function fill(log: BoundedLog): Promise<number> {
  const hold = await log.acquire();
  await appendTexts(log, hold, LONELY_TEXTS);
  return hold.epoch;
}

export function describeTrims(current: () => LogFixture): void {
  test('a trim lets go of what lies below and of nothing else', async () => {
    const { log } = current();
    const epoch = await fill(log);

    expect(await log.trim({ epoch, upTo: 3 })).toBe('ok');

    expect(await readTexts(log, 3)).toEqual(LONELY_TEXTS.slice(3));
    expect(await log.acquire()).toMatchObject({ first: 3, tail: TAIL });
  });

  test.each([0, 2])('a read from trimmed record %i is told where the log starts', async (from) => {
    const { log } = current();
    const epoch = await fill(log);
    await log.trim({ epoch, upTo: 3 });

    const reading = readTexts(log, from);

    await expect(reading).rejects.toThrow(LogTrimmedError);
    await expect(reading).rejects.toMatchObject({ record: from, first: 3 });
    await expect(reading).rejects.toThrow(`record ${from}: the log was trimmed and starts with`);
  });

  test('a log that was never trimmed starts with record 0', async () => {
    const { log } = current();
    const epoch = await fill(log);

    expect(await log.trim({ epoch, upTo: 0 })).toBe('ok');

    expect((await log.acquire()).first).toBe(0);
    expect(await readTexts(log)).toEqual(LONELY_TEXTS);
  });

  test('a batch of which one record must stay stays whole', async () => {
    const { log } = current();
    const { epoch } = await log.acquire();
    for (const [index, text] of LONELY_TEXTS.entries()) {
      const fields = { recordCount: 3, bytes: Buffer.from(text) };
      await log.append(batchAfter({ epoch, tail: index * 3 }, fields));
    }

    await log.trim({ epoch, upTo: 5 });

    expect(await readTexts(log, 3)).toEqual(LONELY_TEXTS.slice(1));
    await expect(readTexts(log, 2)).rejects.toMatchObject({ first: 3 });
  });

  test('a trim of everything leaves the tail, and the log goes on there', async () => {
    const { log } = current();
    const epoch = await fill(log);

    expect(await log.trim({ epoch, upTo: TAIL })).toBe('ok');

    expect(await readTexts(log, TAIL)).toEqual([]);
    await appendTexts(log, { epoch, tail: TAIL }, ['next']);
    expect(await readTexts(log, TAIL)).toEqual(['next']);
  });
}

export function describeRepeatedTrims(current: () => LogFixture): void {
  test('trims that take nothing new are ok', async () => {
    const { log } = current();
    const epoch = await fill(log);
    await log.trim({ epoch, upTo: 3 });

    expect(await log.trim({ epoch, upTo: 3 })).toBe('ok');
    expect(await log.trim({ epoch, upTo: 1 })).toBe('ok');

    expect(await readTexts(log, 3)).toEqual(LONELY_TEXTS.slice(3));
  });

  test('trims one after the other move the start on', async () => {
    const { log } = current();
    const epoch = await fill(log);

    await log.trim({ epoch, upTo: 1 });
    await Promise.all([log.trim({ epoch, upTo: 4 }), log.trim({ epoch, upTo: 2 })]);

    expect((await log.acquire()).first).toBe(4);
  });

  test.each([TAIL + 1, -1, 0.5, Number.NaN])('a trim up to record %f is refused', async (upTo) => {
    const { log } = current();
    const epoch = await fill(log);

    await expect(log.trim({ epoch, upTo })).rejects.toThrow(RangeError);

    expect(await readTexts(log)).toEqual(LONELY_TEXTS);
  });

  test('a repeat of the last batch is a duplicate, though the batch was trimmed', async () => {
    const { log } = current();
    const { epoch } = await log.acquire();
    const batch = batchAfter({ epoch, tail: 0 });
    await log.append(batch);

    await log.trim({ epoch, upTo: 1 });

    expect(await log.append(batch)).toBe('duplicate');
  });
}

export function describeTrimFencing(current: () => LogFixture): void {
  test('a trim without a hold is fenced', async () => {
    expect(await current().log.trim({ epoch: 1, upTo: 0 })).toBe('fenced');
  });

  test('a holder that was replaced cannot trim', async () => {
    const { log, rival } = current();
    const epoch = await fill(log);
    await rival.acquire();

    expect(await log.trim({ epoch, upTo: 3 })).toBe('fenced');

    expect(await readTexts(rival)).toEqual(LONELY_TEXTS);
  });

  test('a holder that was replaced cannot append where the log was trimmed', async () => {
    const { log, rival } = current();
    const epoch = await fill(log);
    const next = await rival.acquire();
    await rival.trim({ epoch: next.epoch, upTo: TAIL });

    for (let tail = 0; tail <= TAIL; tail += 1) {
      expect(await log.append(batchAfter({ epoch, tail }))).toBe('fenced');
    }

    expect(await readTexts(rival, TAIL)).toEqual([]);
  });

  test('not even the holder can append where the log was trimmed', async () => {
    const { log } = current();
    const epoch = await fill(log);
    await log.trim({ epoch, upTo: 3 });

    for (let tail = 0; tail < TAIL; tail += 1) {
      expect(await log.append(batchAfter({ epoch, tail }))).toBe('fenced');
    }

    expect(await readTexts(log, 3)).toEqual(LONELY_TEXTS.slice(3));
  });

  test('the start that a new holder gets is final, though a trim was under way', async () => {
    const { log, rival } = current();
    const epoch = await fill(log);
    const trimming = log.trim({ epoch, upTo: 3 });

    const { first } = await rival.acquire();

    expect(await trimming).toBe(first === 3 ? 'ok' : 'fenced');
    expect(await readTexts(rival, first)).toEqual(LONELY_TEXTS.slice(first));
  });
}

export function describeTrimOverlaps(current: () => LogFixture): void {
  test('a read behind a trim does not notice it', async () => {
    const { log } = current();
    const epoch = await fill(log);

    const [seen] = await Promise.all([readTexts(log, 3), log.trim({ epoch, upTo: 3 })]);

    expect(seen).toEqual(LONELY_TEXTS.slice(3));
  });

  test('a read that a trim overtakes gives what was there or says so', async () => {
    const { log } = current();
    const epoch = await fill(log);
    const seen: string[] = [];

    const reading = log.read(0, ({ bytes }) => seen.push(Buffer.from(bytes).toString()));
    const [outcome] = await Promise.allSettled([reading, log.trim({ epoch, upTo: TAIL })]);

    expect(seen).toEqual(LONELY_TEXTS.slice(0, seen.length));
    if (outcome.status === 'fulfilled') expect(seen).toHaveLength(TAIL);
    else expect(outcome.reason).toBeInstanceOf(LogTrimmedError);
  });

  test('appends go on during a trim', async () => {
    const { log } = current();
    const epoch = await fill(log);

    const more = appendTexts(log, { epoch, tail: TAIL }, LONELY_TEXTS);
    await Promise.all([more, log.trim({ epoch, upTo: 4 })]);

    expect(await readTexts(log, 4)).toEqual([...LONELY_TEXTS.slice(4), ...LONELY_TEXTS]);
  });

  test('a trimmed log that is opened anew starts where it started', async () => {
    const epoch = await fill(current().log);
    await current().log.trim({ epoch, upTo: 3 });

    const log = await current().reopen();

    expect(await readTexts(log, 3)).toEqual(LONELY_TEXTS.slice(3));
    await expect(readTexts(log)).rejects.toThrow(LogTrimmedError);
    expect(await log.acquire()).toEqual({ epoch: epoch + 1, first: 3, tail: TAIL });
  });

  test('a log that was trimmed to its tail keeps tail and epoch when opened anew', async () => {
    const { log, rival } = current();
    await fill(log);
    const { epoch } = await rival.acquire();
    await rival.trim({ epoch, upTo: TAIL });

    const again = await current().reopen();

    const hold = await again.acquire();
    expect(hold).toEqual({ epoch: epoch + 1, first: TAIL, tail: TAIL });
    await appendTexts(again, hold, ['next']);
    expect(await readTexts(again, TAIL)).toEqual(['next']);
  });

  test('a closed log refuses to trim', async () => {
    const { log } = current();
    const epoch = await fill(log);
    await log.close();

    await expect(log.trim({ epoch, upTo: 1 })).rejects.toThrow('closed');
  });
}
