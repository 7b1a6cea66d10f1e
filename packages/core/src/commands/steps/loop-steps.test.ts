import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
});

const body = { name: 'a', taskReferenceName: 'body', inputParameters: {} as object };
const loop = (more: object) => ({
  taskReferenceName: 'loop',
  type: 'DO_WHILE',
  loopOver: [body],
  ...more,
});

function start(tasks: readonly object[], input: unknown = {}): number {
  expect(runs.register('flow', { tasks }).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

/** Ends the oldest task that the worker holds; returns its input. */
function finish(output: unknown = {}): unknown {
  const [lease] = partition.leasesOf(session);
  const [number] = partition.heldBy(session);
  const { input } = partition.task(number);
  partition.report(session, { lease, kind: 'succeeded', payload: JSON.stringify(output) });
  return JSON.parse(Buffer.from(input).toString());
}

function names(run: number): string[] {
  return runs.run(run).steps.map(({ node, suffix, state }) => `${node}${suffix} ${state}`);
}

test('a loop goes over a list, one element after the other', () => {
  const inputParameters = {
    item: '${loop.output.loopItem}',
    at: '${loop.output.loopIndex}',
    before: '${body.output}',
  };
  const items = '${workflow.input.shards}';
  const run = start([loop({ items, loopOver: [{ ...body, inputParameters }] })], {
    shards: ['x', { y: 1 }],
  });

  expect(finish(1)).toEqual({ item: 'x', at: 0, before: null });
  partition.restart(1);
  session = partition.resume(session, partition.leasesOf(session), { types: ['a'], slots: 10 })
    .session as SessionId;
  expect(finish(2)).toEqual({ item: { y: 1 }, at: 1, before: null });

  const { state, output } = runs.run(run);
  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toEqual({
    iteration: 2,
    loopIndex: 1,
    loopItem: { y: 1 },
    1: { body: 1 },
    2: { body: 2 },
  });
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
});

test.each([
  ['an empty list', [], 'succeeded'],
  ['what is no list', 'x', 'failed'],
])('a loop over %s', (_, shards, state) => {
  const run = start([loop({ items: '${workflow.input.shards}' })], { shards });

  expect(runs.run(run).state).toBe(state);
  if (state === 'failed') expect(runs.run(run).output).toContain('items must be a list');
});

test('a condition sees the iteration and what its body gave, and decides', () => {
  const loopCondition = '$.loop.iteration < $.most && !$.body.isDone';
  const inputParameters = { most: 3, body: 'shadowed' };
  const run = start([loop({ loopCondition, inputParameters })]);
  finish({ isDone: false });
  const { slot } = runs.run(run).steps[0];
  expect(JSON.parse(partition.evaluation(slot)?.input ?? '')).toEqual({
    most: 3,
    loop: { iteration: 1 },
    body: { isDone: false },
  });
  expect(runs.evaluated(slot, { value: 'true' })).toBe(0);
  finish({ isDone: true });
  expect(runs.evaluated(slot, { value: 'false' })).toBe(0);

  expect(runs.run(run).state).toBe('succeeded');
  expect(names(run)).toEqual(['0 succeeded', '1__2 succeeded', '1__1 succeeded']);
});

test('loops in loops have their own iterations', () => {
  const inner = loop({ taskReferenceName: 'inner', items: [1, 2] });
  const last = { ...body, taskReferenceName: 'last', inputParameters: { of: '${body.output}' } };
  const run = start([loop({ items: [1, 2], loopOver: [inner, last] })]);
  for (const output of [11, 12]) finish(output);
  expect(finish()).toEqual({ of: 12 });
  for (const output of [21, 22]) finish(output);
  expect(finish()).toEqual({ of: 22 });

  const { state, output } = runs.run(run);
  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toMatchObject({
    1: { inner: { 1: { body: 11 }, 2: { body: 12 } } },
    2: { inner: { 1: { body: 21 }, 2: { body: 22 } } },
  });
});

test('keepLastN lets older iterations go, and their tasks', () => {
  const run = start([loop({ items: [1, 2, 3, 4], inputParameters: { keepLastN: 2 } })]);
  for (const output of [1, 2, 3]) finish(output);

  expect(runs.run(run).steps).toHaveLength(3);
  expect(partition.state.finished.length).toBe(2);
  finish(4);
  const { state, output } = runs.run(run);
  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toEqual({
    iteration: 4,
    loopIndex: 3,
    loopItem: 4,
    3: { body: 3 },
    4: { body: 4 },
  });
});

test('a step in a loop is named with its iteration', () => {
  const ask = { taskReferenceName: 'ask', type: 'HUMAN' };
  const run = start([loop({ items: [1, 2], loopOver: [ask] })]);
  expect(runs.end(run, 'ask__2').rejection).toBe('step_not_found');
  expect(runs.end(run, 'ask__1', 'complete', 'first').rejection).toBeUndefined();
  // Without it, the newest iteration is meant.
  expect(runs.end(run, 'ask', 'complete', 'second').rejection).toBeUndefined();

  expect(JSON.parse(runs.run(run).output)).toMatchObject({
    1: { ask: 'first' },
    2: { ask: 'second' },
  });
});

test('tasks that an iteration did not need are not promised for ever', () => {
  const choice = {
    taskReferenceName: 'choice',
    type: 'SWITCH',
    expression: 'k',
    inputParameters: { k: 'none' },
    decisionCases: { some: [body] },
  };
  const ask = { taskReferenceName: 'ask', type: 'HUMAN' };
  const run = start([loop({ items: [1, 2, 3], loopOver: [choice, ask] })]);
  expect(runs.run(run).promised).toBe(1);
  for (let n = 0; n < 3; n++) {
    expect(runs.run(run).promised).toBe(1);
    runs.end(run, 'ask');
  }

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', promised: 0 });
});

test('a loop has a bound', () => {
  partition = new TestPartition({ arenaChunkBytes: 2 ** 20 }, { runUnits: 60_000 });
  runs = new TestRuns(partition);
  const items = Array.from({ length: 10_001 }, () => 1);
  const noop = { taskReferenceName: 'noop', type: 'NOOP' };
  const inputParameters = { keepLastN: 1 };
  const run = start([loop({ items, inputParameters, loopOver: [noop] })]);
  for (let n = 0; n < 100 && partition.state.runs.line.length > 0; n++) partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'too_many_iterations' });
});

test('a run cannot have more than 50,000 steps in memory', () => {
  const noops = Array.from({ length: 512 }, (_, n) => ({
    taskReferenceName: `n${n}`,
    type: 'NOOP',
  }));
  partition = new TestPartition({ tasksMax: 20_000 }, { runUnits: 60_000 });
  runs = new TestRuns(partition);
  const items = Array.from({ length: 100 }, () => 1);
  const run = start([loop({ items, loopOver: noops })]);
  for (let n = 0; n < 100 && partition.state.runs.line.length > 0; n++) partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'run_too_large' });
  expect(runs.run(run).output).toContain('keepLastN');
});

test('when memory is full, an iteration waits until there is room', () => {
  partition = new TestPartition({ tasksMax: 4, finishedTasksMax: 1 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a', 'hello'], slots: 10 }).session as SessionId;
  const run = start([loop({ items: [1, 2] })]);
  partition.submit({}, {}, {});
  finish(1);
  expect(runs.run(run).steps).toHaveLength(2);
  expect(partition.nextTimerAt).toBeGreaterThan(partition.now);

  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  }
  partition.now += 100;
  partition.advance();

  expect(names(run)).toContain('1__2 running');
});

test.each([
  [loop({}), 'a DO_WHILE needs a loopCondition, or items'],
  [loop({ items: [1], loopOver: [] }), 'needs loopOver'],
  [loop({ loopCondition: 5 }), 'loopCondition must be a script'],
  [loop({ items: [1], inputParameters: { keepLastN: -1 } }), 'keepLastN must be a whole number'],
  [
    loop({
      items: [1],
      loopOver: [
        {
          taskReferenceName: 'fork',
          type: 'FORK_JOIN',
          forkTasks: [[body], [{ ...body, taskReferenceName: 'other' }]],
        },
        { taskReferenceName: 'join', type: 'JOIN', joinOn: ['body'] },
      ],
    }),
    'in a loop a JOIN waits for every branch; add "other"',
  ],
  [
    loop({
      items: [1],
      loopOver: [
        { ...body, inputParameters: { x: '${later.output}' } },
        { ...body, taskReferenceName: 'later' },
      ],
    }),
    'names "later", which comes later',
  ],
])('a loop that cannot work is refused (%#)', (step, message) => {
  const { problems = [] } = compileDefinition({ tasks: [step] }, testUtf8);

  expect(problems.map((each) => each.message).join()).toContain(message);
});

test('a loop that begins again in the same slot goes over its new list', () => {
  const say = { ...body, inputParameters: { item: '${inner.output.loopItem}' } };
  const inner = loop({
    taskReferenceName: 'inner',
    items: '${loop.output.loopItem}',
    loopOver: [say],
  });
  const lists = [
    ['a', 'bb'],
    ['ccc', 'd'],
  ];
  start([loop({ items: lists, inputParameters: { keepLastN: 1 }, loopOver: [inner] })]);

  const seen = [1, 2, 3, 4].map(() => finish());

  expect(seen).toEqual([{ item: 'a' }, { item: 'bb' }, { item: 'ccc' }, { item: 'd' }]);
});

test('a loop that may go on and has no room asks again when there is some', () => {
  partition = new TestPartition({ tasksMax: 3, finishedTasksMax: 0 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 1 }).session as SessionId;
  const run = start([loop({ loopCondition: '$.loop.iteration < 2' })]);
  finish();
  const { slot } = runs.run(run).steps[0];
  expect(partition.evaluation(slot)).toBeDefined();
  partition.submit({ type: 'b' });
  partition.submit({ type: 'b' });

  expect(runs.evaluated(slot, { value: 'true' })).toBe(0);
  expect(partition.evaluation(slot)).toBeUndefined();
  const records = partition.log().length;
  for (let n = 0; n < 5; n++) partition.advance();
  expect(partition.log().length - records).toBeLessThan(2);
  expect(runs.run(run).steps[0].state).toBe('due');
  partition.operate({ type: 'cancel_tasks', ids: [partition.id(3)], graceMs: 0 });
  partition.now += 200;
  partition.advance();
  expect(runs.evaluated(slot, { value: 'true' })).toBe(0);
  expect(runs.run(run).steps[0].iteration).toBe(2);
});
