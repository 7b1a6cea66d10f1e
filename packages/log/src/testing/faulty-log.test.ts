import { expect, test } from 'vitest';
import { MemoryLog } from '../memory/memory-log.ts';
import { FaultyLog } from './faulty-log.ts';
import { appendTexts, batchAfter, readTexts } from './log-fixture.ts';

test('a held append has not landed and answers after letGo', async () => {
  const log = new FaultyLog(new MemoryLog());
  const hold = await log.acquire();
  log.hold();
  const appending = log.append(batchAfter(hold, { bytes: Buffer.from('late') }));
  await log.whenHeld();

  expect(await readTexts(log)).toEqual([]);

  log.letGo();
  expect(await appending).toBe('ok');
  expect(await readTexts(log)).toEqual(['late']);
});

test('an append that is held after landing is in the log without an answer', async () => {
  const log = new FaultyLog(new MemoryLog());
  const hold = await log.acquire();
  log.hold({ landed: true });
  const appending = log.append(batchAfter(hold, { bytes: Buffer.from('landed') }));
  await log.whenHeld();

  expect(await readTexts(log)).toEqual(['landed']);

  log.letGo();
  expect(await appending).toBe('ok');
});

test('appends pass freely after letGo, and can be held again', async () => {
  const log = new FaultyLog(new MemoryLog());
  const hold = await log.acquire();
  log.hold();
  log.letGo();
  const next = await appendTexts(log, hold, ['a']);
  log.hold();
  const appending = log.append(batchAfter(next));
  await log.whenHeld();

  expect(await readTexts(log)).toEqual(['a']);

  log.letGo();
  expect(await appending).toBe('ok');
});

test('a held append counts as outstanding', async () => {
  const log = new FaultyLog(new MemoryLog());
  const hold = await log.acquire();
  log.hold();
  const appending = log.append(batchAfter(hold));

  await expect(log.append(batchAfter(hold))).rejects.toThrow('an append is outstanding');

  log.letGo();
  await appending;
});

test('unknown answers queue up, one per append', async () => {
  const log = new FaultyLog(new MemoryLog());
  const batch = batchAfter(await log.acquire());
  log.nextAnswersUnknown({ landed: false });
  log.nextAnswersUnknown({ landed: true });

  const outcomes = [await log.append(batch), await log.append(batch), await log.append(batch)];

  expect(outcomes).toEqual(['unknown', 'unknown', 'duplicate']);
});

test('hold and letGo out of turn are mistakes of the test', () => {
  const log = new FaultyLog(new MemoryLog());

  expect(() => log.letGo()).toThrow('call hold first');
  log.hold();
  expect(() => log.hold()).toThrow('call letGo first');
});

test('close does not wait for an append that never answers', async () => {
  const log = new FaultyLog(new MemoryLog());
  const hold = await log.acquire();
  log.hold();
  let answered = false;
  void log.append(batchAfter(hold)).then(() => {
    answered = true;
  });

  await log.close();

  expect(answered).toBe(false);
});
