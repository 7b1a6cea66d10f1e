import { MemoryLog, type MemoryLogStore } from '@sluice/log';
import { expect, test } from 'vitest';
import { LogChangedError, LogFollower } from './log-follower.ts';
import { partitionOptions, TestEngine } from './testing/test-engine.ts';

/** The log of a store as a follower sees it. */
function logOf(store: MemoryLogStore) {
  const log = new MemoryLog(store);
  return {
    read: log.read.bind(log),
    extent: async () => {
      let tail = store.first;
      await log.read(store.first, ({ firstRecord, recordCount }) => {
        tail = firstRecord + recordCount;
      });
      return { first: store.first, tail };
    },
  };
}

function follow(log: ReturnType<typeof logOf>): Promise<LogFollower> {
  const notify = () => undefined;
  const partition = partitionOptions();
  return LogFollower.start({ log, snapshots: undefined, partition, notify });
}

test('an engine goes on with a partition that followed the log', async () => {
  const owner = await TestEngine.start();
  await owner.submit('a');
  const follower = await follow(logOf(owner.store));
  await owner.submit('b');
  await owner.submit('c');
  await follower.catchUp();
  await owner.submit('d');
  const tasks = await owner.tasks();

  const next = await TestEngine.start({ store: owner.store, followed: follower.followed });

  expect(await next.tasks()).toEqual(tasks);
  expect(next.recovered).toMatchObject({ tail: 4 });
  expect(await owner.submit('late').catch(({ name }) => name)).toBe('EngineStoppedError');
  await next.submit('e');
  expect(await next.tasks()).toHaveLength(tasks.length + 1);
});

test('catching up replays each batch once, however often it is asked', async () => {
  const owner = await TestEngine.start();
  await owner.submit('a');
  const follower = await follow(logOf(owner.store));

  await owner.submit('b');
  await follower.catchUp();
  await follower.catchUp();

  expect(follower.reached).toBe(2);
});

test.each([
  ['shorter', ['a']],
  ['another', ['x', 'y', 'z']],
])('a log that became %s is noticed', async (_, types) => {
  const owner = await TestEngine.start();
  const log = logOf(owner.store);
  const follower = await follow(log);
  await owner.submit('a');
  await owner.submit('b');
  await follower.catchUp();
  const restored = await TestEngine.start();
  for (const type of types) await restored.submit(type);

  log.read = logOf(restored.store).read;

  await expect(follower.catchUp()).rejects.toThrow(LogChangedError);
});

test('a last batch that became another after the start is noticed', async () => {
  const owner = await TestEngine.start();
  await owner.submit('a');
  const log = logOf(owner.store);
  const follower = await follow(log);
  const restored = await TestEngine.start();
  await restored.submit('x');

  log.read = logOf(restored.store).read;

  await expect(follower.catchUp()).rejects.toThrow(LogChangedError);
});

test('an owner without a term answers nothing from memory, but what a commit proves', async () => {
  let isOver = true;
  const waiting: (() => void)[] = [];
  const term = {
    isOver: () => isOver,
    whenRenewed: (release: () => void) => void waiting.push(release),
  };
  const owner = await TestEngine.start({ term });

  await owner.submit('a');
  let answered = false;
  const read = owner.tasks().then(() => {
    answered = true;
  });
  await new Promise(setImmediate);
  expect(answered).toBe(false);

  isOver = false;
  for (const release of waiting) release();
  await read;
  expect(await owner.tasks()).toHaveLength(1);
});

test('a commit proves nothing of what was asked after it was sent (engine.term)', async () => {
  let isOver = false;
  const waiting: (() => void)[] = [];
  const term = {
    isOver: () => isOver,
    whenRenewed: (release: () => void) => void waiting.push(release),
  };
  const owner = await TestEngine.start({ term });
  owner.faults.hold();
  const submitting = owner.submit('a');
  await owner.faults.whenHeld();
  const answers: string[] = [];
  const read = owner.tasks().then(() => answers.push('read'));
  // The process was stopped here; another server may have committed more since.
  isOver = true;

  owner.faults.letGo();
  await submitting;
  await new Promise(setImmediate);
  expect(answers).toEqual([]);

  for (const release of waiting) release();
  await read;
  expect(answers).toEqual(['read']);
});

test('an engine that steps down releases nothing more', async () => {
  const owner = await TestEngine.start();

  const submitting = owner.submit('a');
  owner.engine.stepDown(new Error('another server took over'));

  await expect(submitting).rejects.toMatchObject({ name: 'EngineStoppedError' });
  expect(owner.stops).toHaveLength(1);
});
