import { InvariantError } from '@sluice/core';
import { MemoryLog } from '@sluice/log';
import { expect, test } from 'vitest';
import { EngineStoppedError } from './engine-errors.ts';
import { ARENA_CHUNK_BYTES, TestEngine } from './testing/test-engine.ts';
import { settle, watch } from './testing/watched-answer.ts';

test.each([
  { title: 'has landed', unknown: [true] },
  { title: 'has not landed', unknown: [false] },
  { title: 'has landed at the second try', unknown: [false, true, true] },
])('an append whose answer is unknown and that $title is repeated as it was', async (given) => {
  const test = await TestEngine.start();
  await test.attach('s', 1);
  for (const landed of given.unknown) test.faults.nextAnswersUnknown({ landed });

  const answer = watch(test.submit('1'));
  for (const [round] of given.unknown.entries()) {
    await settle();
    expect(test.timerMs).toBe(10 * 2 ** round);
    test.fireTimer();
  }
  await settle();

  const [first, ...repeats] = test.log.appends;
  expect(answer.value).toBe('submitted 1');
  expect(repeats).toEqual(given.unknown.map(() => first));
  expect(test.outputs.released).toEqual(['welcome s', 'push 1 to s']);
  expect(await recordsIn(test)).toBe(1);
});

test('nothing leaves while the answer of an append is unknown', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 1);
  test.faults.nextAnswersUnknown({ landed: true });
  test.faults.hold();
  const answer = watch(test.submit('1'));
  await test.faults.whenHeld();
  test.faults.letGo();
  test.faults.hold();
  await settle();
  test.fireTimer();
  await test.faults.whenHeld();
  const before = [answer.status, ...test.outputs.released];
  test.faults.letGo();
  await settle();

  expect(before).toEqual(['waiting', 'welcome s']);
  expect([answer.status, ...test.outputs.released]).toEqual([
    'answered',
    'welcome s',
    'push 1 to s',
  ]);
});

test('the batch behind an unknown append goes to the right place', async () => {
  const test = await TestEngine.start();
  test.faults.nextAnswersUnknown({ landed: true });
  const first = test.submit('1');
  await settle();
  const rest = [test.submit('2'), test.submit('3')];

  test.fireTimer();
  await Promise.all([first, ...rest]);

  const tails = test.log.appends.map(({ expectedTail, recordCount }) => [
    expectedTail,
    recordCount,
  ]);
  expect(tails).toEqual([
    [0, 1],
    [0, 1],
    [1, 2],
  ]);
});

test('a fenced engine lets nothing out, refuses what waited (engine.definite-append)', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 3);
  const answers = await holdUp(test);

  await new MemoryLog(test.store).acquire();
  test.faults.letGo();
  await settle();

  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 'refused'));
  for (const { value } of answers) expect(value).toBeInstanceOf(EngineStoppedError);
  expect(test.outputs.released).toEqual(['welcome s']);
  expect(test.outputs.dropped).toEqual(['push 1 to s', 'push 2 to s']);
  expect(test.stops.map((cause) => cause.message)).toEqual([
    'another server took over this partition',
  ]);
  expect(await recordsIn(test)).toBe(0);
});

test('an engine whose log fails lets nothing out and refuses everything that waited', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 3);
  const failure = new Error('the disk is gone');
  test.log.failures.push(failure);
  const answers = await holdUp(test);

  test.faults.letGo();
  await settle();

  for (const { value } of answers) expect(value).toBeInstanceOf(EngineStoppedError);
  expect(answers.map(({ value }) => (value as Error).cause)).toEqual(answers.map(() => failure));
  expect(test.outputs.released).toEqual(['welcome s']);
  expect(test.stops).toEqual([failure]);
});

test('an engine that is stopped refuses every later call and appends nothing', async () => {
  const test = await TestEngine.start();
  test.log.failures.push(new Error('the disk is gone'));
  await expect(test.submit('1')).rejects.toThrow(EngineStoppedError);

  const later = [watch(test.submit('2')), watch(test.count()), watch(test.attach('s', 1))];
  await test.engine.close();
  await settle();

  expect(later.map((answer) => answer.status)).toEqual(later.map(() => 'refused'));
  for (const { value } of later) expect(value).toBeInstanceOf(EngineStoppedError);
  expect(test.engine.isStopped).toBe(true);
  expect(test.stops).toHaveLength(1);
  expect(test.log.appends).toHaveLength(1);
  expect(test.outputs.all).toEqual([]);
});

test('an engine whose partition breaks an invariant lets nothing more out', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 3);
  const answers = await holdUp(test);

  const broken = watch(test.submit('x'.repeat(ARENA_CHUNK_BYTES + 1)));
  await settle();
  test.faults.letGo();
  await settle();

  const all = [...answers, broken];
  expect(all.map((answer) => answer.status)).toEqual(all.map(() => 'refused'));
  for (const { value } of all) expect((value as Error).cause).toBeInstanceOf(InvariantError);
  expect(test.outputs.released).toEqual(['welcome s']);
  expect(test.log.appends).toHaveLength(1);
  expect(test.stops).toHaveLength(1);
  await expect(test.count()).rejects.toThrow(EngineStoppedError);
});

test('the owner is told once, also when the log fails after an invariant broke', async () => {
  const test = await TestEngine.start();
  test.log.failures.push(new Error('the disk is gone'));
  const answers = await holdUp(test);
  const broken = watch(test.submit('x'.repeat(ARENA_CHUNK_BYTES + 1)));

  test.faults.letGo();
  await settle();

  expect(test.stops).toEqual([expect.any(InvariantError)]);
  expect([...answers, broken].every((answer) => answer.status === 'refused')).toBe(true);
});

test('close is over when the outstanding append fails', async () => {
  const test = await TestEngine.start();
  const answers = await holdUp(test);
  const closed = watch(test.engine.close());

  await new MemoryLog(test.store).acquire();
  test.faults.letGo();
  await settle();

  expect(closed.status).toBe('answered');
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 'refused'));
});

test('an append that never answers never lets anything out', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 3);
  test.faults.hold({ landed: true });

  const answers = [watch(test.submit('1')), watch(test.count()), watch(test.attach('t', 1))];
  await test.faults.whenHeld();
  await settle();

  expect(await recordsIn(test)).toBe(1);
  expect(answers.map((answer) => answer.status)).toEqual(['waiting', 'waiting', 'waiting']);
  expect(test.outputs.released).toEqual(['welcome s']);
});

/** An append is outstanding, and a batch waits behind it. */
async function holdUp(test: TestEngine) {
  test.faults.hold();
  const appending = [watch(test.submit('1')), watch(test.count())];
  await test.faults.whenHeld();
  return [...appending, watch(test.submit('2')), watch(test.count())];
}

async function recordsIn(test: TestEngine): Promise<number> {
  let records = 0;
  await new MemoryLog(test.store).read(0, (batch) => {
    records += batch.recordCount;
  });
  return records;
}
