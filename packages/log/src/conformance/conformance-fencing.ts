/** The part of the conformance suite about fencing and repeated appends. */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { expect, test } from 'vitest';
import { FaultyLog } from '../testing/faulty-log.ts';
import {
  appendTexts,
  batchAfter,
  type LogFixture,
  readBatches,
  readTexts,
} from '../testing/log-fixture.ts';

export function describeFencing(current: () => LogFixture): void {
  test('an append without a hold is fenced', async () => {
    const { log } = current();

    expect(await log.append(batchAfter({ epoch: 1, tail: 0 }))).toBe('fenced');
  });

  test('a second hold fences the first holder', async () => {
    const { log, rival } = current();
    const first = await log.acquire();
    await appendTexts(log, first, ['kept']);

    const second = await rival.acquire();

    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(second.tail).toBe(1);
    expect(await log.append(batchAfter({ epoch: first.epoch, tail: 1 }))).toBe('fenced');
    expect(await readTexts(rival)).toEqual(['kept']);
  });

  test('a fenced holder does not learn that its last batch landed', async () => {
    const { log, rival } = current();
    const batch = batchAfter(await log.acquire());
    await log.append(batch);
    await rival.acquire();

    expect(await log.append(batch)).toBe('fenced');
  });

  test('an epoch that nobody was given is fenced', async () => {
    const { log } = current();
    const { epoch, tail } = await log.acquire();

    expect(await log.append(batchAfter({ epoch: epoch + 1, tail }))).toBe('fenced');
  });

  test.each([0, 1, 3])('an append after record %i instead of 2 is fenced', async (tail) => {
    const { log } = current();
    const { epoch } = await appendTexts(log, await log.acquire(), ['a', 'b']);

    expect(await log.append(batchAfter({ epoch, tail }))).toBe('fenced');
    expect(await readTexts(log)).toEqual(['a', 'b']);
  });
}

export function describeHandover(current: () => LogFixture): void {
  test('the new holder appends after what the old one committed', async () => {
    const { log, rival } = current();
    const first = await log.acquire();
    await appendTexts(log, first, ['old']);
    const second = await rival.acquire();

    await appendTexts(rival, second, ['new']);

    expect(await readBatches(log)).toEqual([
      { firstRecord: 0, recordCount: 1, epoch: first.epoch, text: 'old' },
      { firstRecord: 1, recordCount: 1, epoch: second.epoch, text: 'new' },
    ]);
  });

  test('the tail that a new holder gets is final, though an append was under way', async () => {
    const { log, rival } = current();
    const hold = await log.acquire();
    const appending = log.append(batchAfter(hold, { bytes: Buffer.from('last moment') }));

    const { tail } = await rival.acquire();

    expect(await appending).toBe(tail === 1 ? 'ok' : 'fenced');
    expect(await readBatches(rival)).toHaveLength(tail);
  });

  test('holds taken at once get epochs of their own, and the last one counts', async () => {
    const { log, rival } = current();

    const holds = await Promise.all([log.acquire(), rival.acquire()]);

    // Calls on two handles may arrive in either order.
    const [first, second] = holds.toSorted((one, other) => one.epoch - other.epoch);
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await log.append(batchAfter(first))).toBe('fenced');
    expect(await rival.append(batchAfter(second))).toBe('ok');
  });
}

/** Fails on a log that takes every batch in the place of the last one for a repeat. */
export async function fencesAnotherBatch(
  log: Pick<LogFixture['log'], 'acquire' | 'append'>,
): Promise<void> {
  const batch = batchAfter(await log.acquire());
  await log.append(batch);

  expect(await log.append({ ...batch, nonce: batch.nonce + 1 })).toBe('fenced');
}

export function describeRepeats(current: () => LogFixture): void {
  test('a repeat of the last batch is a duplicate and lands once', async () => {
    const { log } = current();
    const batch = batchAfter(await log.acquire(), { bytes: Buffer.from('once') });
    await log.append(batch);

    expect(await log.append(batch)).toBe('duplicate');
    expect(await log.append(batch)).toBe('duplicate');
    expect(await readTexts(log)).toEqual(['once']);
  });

  test('a repeat of an earlier batch is fenced', async () => {
    const { log } = current();
    const hold = await log.acquire();
    const first = batchAfter(hold);
    await log.append(first);
    await log.append(batchAfter({ epoch: hold.epoch, tail: 1 }));

    expect(await log.append(first)).toBe('fenced');
  });

  test('another batch in the place of the last one is fenced', () =>
    fencesAnotherBatch(current().log));

  test.each([
    { landed: true, repeat: 'duplicate' },
    { landed: false, repeat: 'ok' },
  ])('after an unknown answer (landed: $landed) the repeat is $repeat', async (example) => {
    const faulty = new FaultyLog(current().log);
    const batch = batchAfter(await faulty.acquire(), { bytes: Buffer.from('once') });
    faulty.nextAnswersUnknown({ landed: example.landed });

    expect(await faulty.append(batch)).toBe('unknown');

    expect(await faulty.append(batch)).toBe(example.repeat);
    expect(await readTexts(faulty)).toEqual(['once']);
  });

  test('an append that was held up until another holder came is fenced', async () => {
    const { log, rival } = current();
    const faulty = new FaultyLog(log);
    const hold = await faulty.acquire();
    faulty.hold();
    const late = faulty.append(batchAfter(hold));
    await rival.acquire();

    faulty.letGo();

    expect(await late).toBe('fenced');
    expect(await readTexts(rival)).toEqual([]);
  });
}
