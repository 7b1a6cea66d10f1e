import type { Slot } from '@sluice/core';
import { expect, test } from 'vitest';
import { TestEngine } from './testing/test-engine.ts';
import { settle, watch } from './testing/watched-answer.ts';

test('the answer to a submit leaves after its commit and not before (L2)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();

  const answer = watch(test.submit('1'));
  await settle();
  const before = answer.status;
  test.faults.letGo();
  await settle();

  expect([before, answer]).toEqual(['waiting', { status: 'answered', value: 'submitted 1' }]);
});

test('an answer is rendered from the state that its own command left', async () => {
  const test = await TestEngine.start();

  const answers = await Promise.all([test.submit('1'), test.submit('2', '3'), test.submit('4')]);

  expect(answers).toEqual(['submitted 1', 'submitted 2,3', 'submitted 4']);
});

test('a rejection waits for the commit of what caused it (L2)', async () => {
  const test = await TestEngine.start({ tasksMax: 1 });
  test.faults.hold();
  const accepted = watch(test.submit('1'));

  const refused = watch(test.submit('2'));
  await settle();
  const before = refused.status;
  test.faults.letGo();
  await settle();

  expect([before, refused.value]).toEqual(['waiting', 'refused: too_many_tasks']);
  expect(accepted.status).toBe('answered');
});

test('what rendering throws is an answer and waits like any other (L2)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  const submitted = watch(test.submit('1'));
  const refusal = new Error('no such task');

  const answer = watch(
    test.engine.read(() => {
      throw refusal;
    }),
  );
  await settle();
  const before = answer.status;
  test.faults.letGo();
  await settle();

  expect([before, answer]).toEqual(['waiting', { status: 'refused', value: refusal }]);
  expect(submitted.status).toBe('answered');
});

test('a read of what is not durable waits (L2)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  void test.submit('1');

  const count = watch(test.count());
  await settle();
  const before = count.status;
  test.faults.letGo();
  await settle();

  expect([before, count.value]).toEqual(['waiting', 1]);
});

test('a read leaves at once when nothing is uncommitted, even from a log that hangs', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();

  const count = await test.count();

  expect(count).toBe(1);
  expect(test.log.appends).toHaveLength(1);
});

test('a push leaves after the commit of its lease and not before (L2)', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 1);
  test.faults.hold();
  void test.submit('1');
  await settle();
  const before = [...test.outputs.released];

  test.faults.letGo();
  await settle();

  expect(before).toEqual(['welcome s']);
  expect(test.outputs.released).toEqual(['welcome s', 'push 1 to s']);
});

test('a welcome that comes with tasks waits for their leases (L2)', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();
  const attached = watch(test.attach('s', 1));
  await settle();
  const before = [attached.status, ...test.outputs.released];

  test.faults.letGo();
  await settle();

  expect(before).toEqual(['waiting']);
  expect(test.outputs.released).toEqual(['welcome s', 'push 1 to s']);
  expect(attached.status).toBe('answered');
});

test('a welcome without events waits for the append that is outstanding (L2)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  const attached = watch(test.attach('s', 0));
  await settle();
  const before = [attached.status, ...test.outputs.released];

  test.faults.letGo();
  await settle();

  expect(before).toEqual(['waiting']);
  expect([attached.status, ...test.outputs.released]).toEqual(['answered', 'welcome s']);
  expect(test.log.appends).toHaveLength(1);
});

test('a welcome without events waits for the batch that is not yet appended (L2)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  void test.submit('2');
  const attached = watch(test.attach('s', 0));

  test.faults.letGo();
  test.faults.hold();
  await settle();
  const between = [attached.status, ...test.outputs.released];
  test.faults.letGo();
  await settle();

  expect(between).toEqual(['waiting']);
  expect([attached.status, ...test.outputs.released]).toEqual(['answered', 'welcome s']);
});

test('outputs without events leave at once when nothing is uncommitted', async () => {
  const test = await TestEngine.start();
  test.faults.hold();

  await test.attach('s', 1);
  await test.detach('s');

  expect(test.outputs.released).toEqual(['welcome s', 'closed s']);
  expect(test.log.appends).toEqual([]);
});

test('a view of a task waits only for batches that touched it (engine.untouched)', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();
  void test.submit('2');
  await test.faults.whenHeld();
  void test.submit('3');

  const views = [0, 1, 2].map((slot) => watch(test.numbersIn(slot)));
  const several = watch(test.numbersIn(0, 1));
  await settle();
  const before = [...views, several].map(({ status }) => status);
  test.faults.letGo();
  test.faults.hold();
  await settle();
  const between = [...views, several].map(({ status }) => status);
  test.faults.letGo();
  await settle();

  expect(before).toEqual(['answered', 'waiting', 'waiting', 'waiting']);
  expect(between).toEqual(['answered', 'answered', 'waiting', 'answered']);
  expect(views[2].value).toEqual([3]);
});

test('a view of a task that is about to change again waits (engine.untouched)', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();

  void test.attach('s', 1);
  const view = watch(test.numbersIn(0));
  await settle();
  const before = view.status;
  test.faults.letGo();
  await settle();

  expect([before, view.status]).toEqual(['waiting', 'answered']);
});

test('a view that refuses waits for everything (engine.untouched)', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();
  void test.submit('2');

  const refusal = watch(
    test.engine.readShown((_state, _partition, shows) => {
      shows.task(0 as Slot);
      throw new Error('no such task');
    }),
  );
  await settle();
  const before = refusal.status;
  test.faults.letGo();
  await settle();

  expect([before, refusal.status]).toEqual(['waiting', 'refused']);
});

test('a read waits for exactly the append of what it saw (engine.after-commit)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  const first = watch(test.count());
  void test.submit('2');
  const second = watch(test.count());

  test.faults.letGo();
  test.faults.hold();
  await settle();
  const between = [first.status, second.status];
  test.faults.letGo();
  await settle();

  expect(between).toEqual(['answered', 'waiting']);
  expect([first.value, second.value]).toEqual([1, 2]);
});

test('commands that arrive during an append are the next batch (engine.one-append)', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  const first = test.submit('1');
  await test.faults.whenHeld();
  const later: Promise<unknown>[] = [];
  for (const input of ['2', '3', '4', '5']) {
    later.push(test.submit(input));
    await settle();
  }

  test.faults.letGo();
  await Promise.all([first, ...later]);

  expect(test.log.appends.map((batch) => batch.recordCount)).toEqual([1, 4]);
  expect(test.log.appends.map((batch) => batch.expectedTail)).toEqual([0, 1]);
});

test('commands of one turn share an append, and their answers wait for it', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  const answers = ['1', '2', '3'].map((input) => watch(test.submit(input)));
  const count = watch(test.count());
  await settle();
  const before = [...answers, count].map((answer) => answer.status);

  test.faults.letGo();
  await settle();

  expect(before).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
  expect(count.value).toBe(3);
  expect(test.log.appends.map((batch) => batch.recordCount)).toEqual([3]);
});

test('nothing leaves before the append of its turn has even begun (L2)', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 1);

  const answers = [watch(test.submit('1')), watch(test.count()), watch(test.attach('t', 0))];
  await Promise.resolve();

  expect(test.log.appends).toEqual([]);
  expect(answers.map((answer) => answer.status)).toEqual(['waiting', 'waiting', 'waiting']);
  expect(test.outputs.released).toEqual(['welcome s']);
});

test('each batch has a nonce of its own', async () => {
  const test = await TestEngine.start();

  for (const input of ['1', '2', '3']) await test.submit(input);

  expect(test.log.appends.map((batch) => batch.nonce)).toEqual([1000, 2000, 3000]);
});

test('answers and outputs leave in the order of their commits', async () => {
  const test = await TestEngine.start();
  const answered: string[] = [];
  const submit = (input: string) => test.submit(input).then((answer) => answered.push(answer));

  const steps = [
    () => submit('1'),
    () => test.attach('a', 2),
    () => submit('2'),
    () => submit('3'),
    () => test.attach('b', 1),
    () => test.detach('a'),
    () => submit('4'),
  ];
  const done: Promise<unknown>[] = [];
  for (const [index, step] of steps.entries()) {
    done.push(step());
    if (index % 2 === 1) await settle();
  }
  await Promise.all(done);

  expect(answered).toEqual([1, 2, 3, 4].map((number) => `submitted ${number}`));
  expect(test.outputs.released).toEqual(test.outputs.all);
  expect(test.outputs.released.length).toBeGreaterThan(5);
  expect(test.outputs.dropped).toEqual([]);
});

test('close waits for the outstanding append and for the batch behind it', async () => {
  const test = await TestEngine.start();
  test.faults.hold();
  const first = watch(test.submit('1'));
  await test.faults.whenHeld();
  const second = watch(test.submit('2'));
  const closed = watch(test.engine.close());

  test.faults.letGo();
  test.faults.hold();
  await settle();
  const between = closed.status;
  test.faults.letGo();
  await settle();

  expect([between, closed.status]).toEqual(['waiting', 'answered']);
  expect([first.status, second.status]).toEqual(['answered', 'answered']);
});

test('close waits for the append that the end of this turn will start', async () => {
  const test = await TestEngine.start();
  const answer = watch(test.submit('1'));

  await test.engine.close();

  expect(answer.status).toBe('answered');
  expect(test.log.appends).toHaveLength(1);
});

test('close is over at once when nothing is outstanding', async () => {
  const test = await TestEngine.start();
  await test.submit('1');
  test.faults.hold();

  await test.engine.close();

  expect(test.engine.isStopped).toBe(false);
});
