import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HolderIndex } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { TestTask } from '../../testing/test-requests.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';

test('a submitted task waits in its queue with what it was given', () => {
  const partition = new TestPartition();

  const reply = partition.submit({ type: 'greet', priority: 7, input: '{"name":"Ada"}' });

  expect(reply).toEqual({ slots: [0] });
  expect(partition.task(1)).toMatchObject({
    type: 'greet',
    state: 'queued',
    reason: 'submitted',
    priority: 7,
    attempt: 0,
    session: null,
    submittedAt: partition.now,
    input: [...testUtf8.encode('{"name":"Ada"}')],
    result: [],
  });
});

test('a task without a priority stands in the middle level', () => {
  const partition = new TestPartition();

  partition.submit({ type: 'greet' });

  expect(partition.task(1).priority).toBe(4);
});

test('an array is stored in order, each task with its own input', () => {
  const partition = new TestPartition();

  partition.submit({ input: '"a"' }, {}, { input: '"bcd"' });

  const inputs = [1, 2, 3].map((n) => testUtf8.decode(Uint8Array.from(partition.task(n).input)));
  expect(inputs).toEqual(['"a"', '', '"bcd"']);
});

test('an array that fills the last slot is accepted, one more task is not', () => {
  const partition = new TestPartition({ tasksMax: 3 });

  const fits = partition.submit({}, {}, {});
  const over = partition.submit({});

  expect(fits.rejection).toBeUndefined();
  expect(over).toEqual({ rejection: 'too_many_tasks', slots: [] });
});

test('an array that is one task too long stores none of its tasks', () => {
  const partition = new TestPartition({ tasksMax: 3 });
  partition.submit({});
  const before = describeState(partition.state);

  const reply = partition.submit({}, { type: 'other' }, {});

  expect(reply.rejection).toBe('too_many_tasks');
  expect(describeState(partition.state)).toEqual(before);
});

test('a slot that a forgotten task left makes room for another task', () => {
  const partition = new TestPartition({ tasksMax: 2, finishedTasksMax: 0 });
  const { session } = partition.attach();
  partition.submit({}, {});
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });

  const reply = partition.submit({});

  expect(reply).toEqual({ slots: [0] });
  expect(partition.task(3).state).toBe('queued');
});

test.each<[string, (n: number) => TestTask]>([
  ['tags', (n) => ({ tags: { n: `${n}` } })],
  ['callbacks', (n) => ({ callback: { url: `http://x/${n}`, on: ['failed'] } })],
  ['parents', (n) => ({ parentId: `t_${n}` })],
])('%s of their own take room, and shared ones take it once (L9)', (_name, task) => {
  const partition = new TestPartition({ payloadBytesMax: 2000 });
  for (let n = 0; n < 50; n++) expect(partition.submit(task(0)).rejection).toBeUndefined();

  const refused = Array.from({ length: 50 }, (_, n) => partition.submit(task(n + 1)).rejection);

  expect(refused.at(0)).toBeUndefined();
  expect(refused.at(-1)).toBe('too_many_bytes');
});

test('a task is leased in the turn of its submit when a worker has room', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();

  partition.submit({});

  expect(partition.task(1)).toMatchObject({
    state: 'leased',
    reason: 'leased',
    attempt: 1,
    leasedAt: partition.now,
    session,
  });
  expect(partition.pushes).toEqual([{ session, task: 1, lease: partition.leasesOf(session)[0] }]);
});

test('a task of a type that nobody handles waits', () => {
  const partition = new TestPartition();
  partition.attach({ types: ['other'] });

  partition.submit({ type: 'hello' });

  expect(partition.task(1).state).toBe('queued');
});

test('a worker gets the tasks of one type by priority, and in a level by age', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(8), { minLength: 1, maxLength: 20 }), (priorities) => {
      const partition = new TestPartition();
      partition.submit(...priorities.map((priority) => ({ priority })));

      const { session } = partition.attach({ slots: priorities.length });

      const expected = priorities
        .map((priority, index) => ({ priority, number: index + 1 }))
        .toSorted((a, b) => b.priority - a.priority || a.number - b.number)
        .map((task) => task.number);
      expect(partition.heldBy(session)).toEqual(expected);
    }),
  );
});

test('a worker with several types gets the highest level first and then the oldest task', () => {
  const partition = new TestPartition();
  partition.submit({ type: 'a', priority: 4 }, { type: 'b', priority: 4 });
  partition.submit({ type: 'b', priority: 6 }, { type: 'a', priority: 4 });

  const { session } = partition.attach({ types: ['b', 'a'], slots: 4 });

  expect(partition.heldBy(session)).toEqual([3, 1, 2, 4]);
});

test('tasks go round among the workers with room', () => {
  const partition = new TestPartition();
  const sessions = [1, 2, 3].map(() => partition.attach({ slots: 2 }).session);

  partition.submit({}, {}, {}, {}, {}, {}, {});

  expect(partition.pushes.map((push) => push.session)).toEqual([...sessions, ...sessions]);
  expect(partition.task(7).state).toBe('queued');
});

test('no worker is given more tasks than it has slots (matching.within-offer)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 4 })), fc.nat(30), (slots, count) => {
      const partition = new TestPartition();
      const sessions = slots.map((each) => partition.attach({ slots: each }).session);

      partition.submit(...Array.from({ length: count }, () => ({})));

      const held = sessions.map((session) => partition.heldBy(session).length);
      const room = slots.reduce((sum, each) => sum + each, 0);
      expect(held.every((number, index) => number <= slots[index])).toBe(true);
      expect(held.reduce((sum, number) => sum + number, 0)).toBe(Math.min(room, count));
    }),
  );
});

test('of several types in one array the highest priority is leased first', () => {
  const partition = new TestPartition();
  partition.attach({ types: ['a', 'b'], slots: 1 });

  partition.submit({ type: 'a', priority: 0 }, { type: 'b', priority: 8 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([2]);
});

test('texts that no log can hold are the same in memory and after a restart', () => {
  const partition = new TestPartition();
  partition.submit({ parentId: '\ud800' }, { parentId: '\ud801' }, { parentId: '\ufeffx' });

  const replayed = partition.replayed();

  expect(describeState(replayed.state)).toEqual(describeState(partition.state));
  expect(replayed.hashState()).toBe(partition.hashState());
});

test('tags count in what is on its way to a worker', () => {
  const partition = new TestPartition({ unsentBytesMax: 2000 });
  const tags = { note: 'x'.repeat(1500) };

  partition.attach({ slots: 9 });
  for (let i = 0; i < 5; i++) partition.submit({ tags });

  expect(partition.state.holders.at(0 as HolderIndex).held.length).toBe(2);
});
