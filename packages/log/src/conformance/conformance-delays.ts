/** The part of the conformance suite about calls that come late or all at once. */
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { expect, test } from 'vitest';
import { FaultyLog } from '../testing/faulty-log.ts';
import {
  appendTexts,
  batchAfter,
  LONELY_TEXTS,
  type LogFixture,
  readBatches,
  readTexts,
} from '../testing/log-fixture.ts';

export function describeDelayedLandings(current: () => LogFixture): void {
  test('a batch that landed before its answer was lost is kept by the next holder', async () => {
    const { log, rival } = current();
    const faulty = new FaultyLog(log);
    const hold = await faulty.acquire();
    faulty.hold({ landed: true });
    const late = faulty.append(batchAfter(hold, { bytes: Buffer.from('landed') }));
    await faulty.whenHeld();

    const next = await rival.acquire();
    await appendTexts(rival, next, ['next']);
    faulty.letGo();

    expect(await late).toBe('ok');
    expect(next.tail).toBe(1);
    expect(await readTexts(rival)).toEqual(['landed', 'next']);
  });

  test('a batch that comes after the next holder has appended in its place is lost', async () => {
    const { log, rival } = current();
    const faulty = new FaultyLog(log);
    const hold = await faulty.acquire();
    faulty.hold();
    const late = faulty.append(batchAfter(hold, { bytes: Buffer.from('late') }));
    await faulty.whenHeld();
    const next = await rival.acquire();
    await appendTexts(rival, next, ['in its place']);

    faulty.letGo();

    expect(await late).toBe('fenced');
    expect(await readTexts(rival)).toEqual(['in its place']);
  });

  test('a batch that comes after a trim has passed its place is fenced', async () => {
    const { log, rival } = current();
    const faulty = new FaultyLog(log);
    const hold = await faulty.acquire();
    faulty.hold();
    const late = faulty.append(batchAfter(hold));
    await faulty.whenHeld();
    const next = await rival.acquire();
    await appendTexts(rival, next, LONELY_TEXTS);
    await rival.trim({ epoch: next.epoch, upTo: 3 });

    faulty.letGo();

    expect(await late).toBe('fenced');
    expect(await readTexts(rival, 3)).toEqual(LONELY_TEXTS.slice(3));
  });
}

export function describeUnknowns(current: () => LogFixture): void {
  test.each([true, false])('an unknown append (landed: %s) is final for others', async (landed) => {
    const { log, rival } = current();
    const faulty = new FaultyLog(log);
    const batch = batchAfter(await faulty.acquire(), { bytes: Buffer.from('unknown') });
    faulty.nextAnswersUnknown({ landed });
    await faulty.append(batch);

    const next = await rival.acquire();

    expect(next.tail).toBe(landed ? 1 : 0);
    expect(await faulty.append(batch)).toBe('fenced');
    expect(await readBatches(rival)).toHaveLength(next.tail);
  });

  test('a batch repeated until its answer is definite is there once', async () => {
    const faulty = new FaultyLog(current().log);
    const batch = batchAfter(await faulty.acquire(), { bytes: Buffer.from('once') });
    for (const landed of [false, true, true]) faulty.nextAnswersUnknown({ landed });

    const outcomes = [];
    for (let round = 0; round < 4; round += 1) outcomes.push(await faulty.append(batch));

    expect(outcomes).toEqual(['unknown', 'unknown', 'unknown', 'duplicate']);
    expect(await readTexts(faulty)).toEqual(['once']);
  });
}

export function describeRaces(current: () => LogFixture): void {
  test('of many holds taken at once only the last can append', async () => {
    const { log, rival } = current();
    const callers = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? log : rival));

    const holds = await Promise.all(callers.map((caller) => caller.acquire()));
    const outcomes = [];
    for (const hold of holds) outcomes.push(await log.append(batchAfter(hold)));

    expect(new Set(holds.map(({ epoch }) => epoch)).size).toBe(12);
    const latest = Math.max(...holds.map(({ epoch }) => epoch));
    expect(outcomes).toEqual(holds.map(({ epoch }) => (epoch === latest ? 'ok' : 'fenced')));
  });

  test('holders that chase each other leave one history', async () => {
    const { log, rival } = current();
    const landed: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      const hold = await log.acquire();
      const text = `round ${round}`;
      const appending = log.append(batchAfter(hold, { bytes: Buffer.from(text) }));
      const next = await rival.acquire();
      if ((await appending) === 'ok') landed.push(text);
      expect(next.tail).toBe(landed.length);
    }

    expect(await readTexts(log)).toEqual(landed);
  });
}

export function describeOverlaps(current: () => LogFixture): void {
  test('reads at every step of a growing log see all that was committed', async () => {
    const { log } = current();
    const { epoch } = await log.acquire();
    const reads: Promise<string[]>[] = [];
    for (let tail = 0; tail < 20; tail += 1) {
      reads.push(readTexts(log));
      await appendTexts(log, { epoch, tail }, [`text ${tail}`]);
    }

    const seen = await Promise.all(reads);

    const texts = await readTexts(log);
    expect(texts).toHaveLength(20);
    for (const [committed, read] of seen.entries()) {
      expect(read.length).toBeGreaterThanOrEqual(committed);
      expect(read).toEqual(texts.slice(0, read.length));
    }
  });

  test('reads, appends and trims at once disturb nobody', async () => {
    const { log } = current();
    let hold = await appendTexts(log, await log.acquire(), LONELY_TEXTS);
    for (let round = 0; round < 6; round += 1) {
      const { epoch, tail } = hold;
      const expected = await readTexts(log, tail - 2);

      const [next, outcome, seen] = await Promise.all([
        appendTexts(log, hold, LONELY_TEXTS.slice(0, 3)),
        log.trim({ epoch, upTo: tail - 2 }),
        readTexts(log, tail - 2),
      ]);

      expect(outcome).toBe('ok');
      expect(seen.slice(0, 2)).toEqual(expected);
      hold = next;
    }

    expect(await readTexts(log, hold.tail - 3)).toEqual(LONELY_TEXTS.slice(0, 3));
  });

  test('a repeat after opening anew is fenced, because its epoch is over', async () => {
    const batch = batchAfter(await current().log.acquire());
    await current().log.append(batch);

    const log = await current().reopen();
    const { epoch } = await log.acquire();

    expect(await log.append(batch)).toBe('fenced');
    expect(await log.append({ ...batch, epoch, expectedTail: 1 })).toBe('ok');
  });
}
