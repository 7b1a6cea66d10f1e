import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { Branches } from '../../decision/runs/branches.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;
let version = 0;

beforeEach(() => begin());

function begin(limits: ConstructorParameters<typeof TestPartition>[0] = {}): void {
  partition = new TestPartition({ arenaChunkBytes: 2 ** 20, ...limits });
  version = 0;
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a', 'b'], slots: 100 }).session as SessionId;
}

const JOIN = { taskReferenceName: 'join', type: 'JOIN' };

/** A fork over the items of the input, and its join. */
function over(more: object = {}, name = 'a'): object[] {
  const inputParameters = { forkTaskInputs: '${workflow.input.items}', forkTaskName: name };
  return [{ taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters, ...more }, JOIN];
}

function start(tasks: readonly object[], input: unknown = {}, more: object = {}): number {
  version += 1;
  expect(runs.register('flow', { tasks, ...more }, version).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

/** Answers the task with this input. */
function answer(input: object, output: unknown, kind: 'succeeded' | 'failed' = 'succeeded'): void {
  const index = inputs().findIndex((each) => JSON.stringify(each) === JSON.stringify(input));
  const lease = partition.leasesOf(session)[index];
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
}

function inputs(): unknown[] {
  return partition.heldBy(session).map((number) => {
    return JSON.parse(Buffer.from(partition.task(number).input).toString());
  });
}

/** The step at this place of the definition. */
function stepAt(run: number, place: number) {
  return runs.run(run).steps.filter(({ node }) => node === place)[0];
}

function outputOf(run: number): unknown {
  return JSON.parse(runs.run(run).output);
}

test('a fork has a branch for each item, and its join gives their outputs in order', () => {
  const last = { name: 'b', taskReferenceName: 'last', inputParameters: LAST };
  const run = start([...over(), last], { items: ['x', { y: 1 }, 3] });

  expect(inputs()).toEqual([
    { input: 'x', __index: 0 },
    { y: 1, __index: 1 },
    { input: 3, __index: 2 },
  ]);
  answer({ input: 3, __index: 2 }, { q: 30 });
  answer({ input: 'x', __index: 0 }, { q: 10 });
  expect(stepAt(run, 1).state).toBe('pending');
  answer({ y: 1, __index: 1 }, { q: 20 });

  expect(inputs()).toEqual([{ all: [10, 20, 30], one: 20, of: 3, none: null }]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
});

const LAST = {
  all: '${join.output[*].q}',
  one: '${join.output._a_1.q}',
  of: '${join.output.length()}',
  none: '${join.output._a_3.q}',
};

test('a list may say what each branch is, with inputs by reference', () => {
  const tasks = [
    { taskReferenceName: 'one', name: 'a', type: 'SIMPLE' },
    { taskReferenceName: 'two', name: 'b', optional: true, retryCount: 0 },
    { taskReferenceName: 'three', name: 'a', inputParameters: { own: 1 } },
  ];
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    dynamicForkTasksInputParamName: 'given',
    inputParameters: { list: '${workflow.input.tasks}', given: { one: { x: 1 }, two: 7 } },
  };
  const run = start([fork, JOIN], { tasks });

  expect(inputs()).toEqual([{ x: 1 }, { input: 7 }, { own: 1 }]);
  answer({ x: 1 }, 'first');
  answer({ input: 7 }, {}, 'failed');
  answer({ own: 1 }, null);

  expect(runs.run(run).state).toBe('succeeded');
  expect(stepAt(run, 1).state).toBe('completed_with_errors');
  expect(outputOf(run)).toEqual({ one: 'first', two: null, three: null });
});

test('the older form of a list is read, too', () => {
  const dynamicTasks = [{ taskName: 'a', referenceName: 'x', type: 'SIMPLE', input: { k: 1 } }];
  const fork = {
    taskReferenceName: 'fork',
    type: 'DYNAMIC_FORK',
    dynamicForkJoinTasksParam: 'list',
    inputParameters: { list: { dynamicTasks } },
  };
  const run = start([fork, JOIN]);
  answer({ k: 1 }, 5);

  expect(outputOf(run)).toEqual({ x: 5 });
});

test('a fork without branches passes, and so does an optional one that has no list', () => {
  const none = start(over(), { items: [] });
  const bad = start(over({ optional: true }), { items: 'x' });

  expect(runs.run(none).state).toBe('succeeded');
  expect(outputOf(none)).toEqual({});
  expect(runs.run(bad).state).toBe('succeeded');
  expect(runs.run(bad).steps.map(({ state }) => state)).toEqual([
    'completed_with_errors',
    'completed_with_errors',
  ]);
});

test('a branch that fails stops the others; an optional fork takes it', () => {
  const failing = start(over(), { items: [1, 2] });
  answer({ input: 1, __index: 0 }, { code: 'x' }, 'failed');
  expect(runs.run(failing).state).toBe('stopping');
  expect(JSON.parse(runs.run(failing).output)).toMatchObject({ step: '_a_0' });
  answer({ input: 2, __index: 1 }, 1);
  expect(runs.run(failing).state).toBe('failed');

  const optional = start(over({ optional: true }), { items: [1, 2] });
  answer({ input: 1, __index: 0 }, { code: 'x' }, 'failed');
  answer({ input: 2, __index: 1 }, 2);

  expect(runs.run(optional).state).toBe('succeeded');
  expect(outputOf(optional)).toEqual({ _a_0: null, _a_1: 2 });
});

test('two forks name their branches apart, and a loop numbers them', () => {
  const second = over().map((step) => {
    const { taskReferenceName, ...others } = step as { taskReferenceName: string };
    return { ...others, taskReferenceName: `${taskReferenceName}2` };
  });
  const loopOver = [...over(), ...second];
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2], loopOver };
  const run = start([loop], { items: ['x'] });
  for (let n = 0; n < 3; n++) answer({ input: 'x', __index: 0 }, n);

  expect(runs.end(run, '_fork2_a_0__1').rejection).toBe('step_not_waiting');
  expect(runs.end(run, '_fork2_a_1__2').rejection).toBe('step_not_found');
  expect(runs.end(run, '_fork2_a_0__2', 'complete', 'by hand').rejection).toBeUndefined();
  expect(runs.run(run).state).toBe('succeeded');
  expect(outputOf(run)).toMatchObject({
    1: { join: { _fork_a_0: 0 }, join2: { _fork2_a_0: 1 } },
    2: { join: { _fork_a_0: 2 }, join2: { _fork2_a_0: 'by hand' } },
  });
});

test.each([
  ['no list', { items: 7 }, 'forkTaskInputs must be a list, and it is a number', 'bad_value'],
  ['too many', { items: Array(10_001).fill(0) }, 'at most 10000', 'too_many_branches'],
])('a fork with %s fails its run', (_, input, message, reason) => {
  const run = start(over(), input);

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason });
  expect(runs.run(run).output).toContain(message);
});

test('a list of branches over its bound is refused before any of them is read', () => {
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    inputParameters: { list: '${workflow.input.list}' },
  };
  // Each of them would be a bad value.
  const run = start([fork, JOIN], { list: Array(10_001).fill(7) });

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'too_many_branches' });
});

test.each([
  [[7], 'list[0] must be an object'],
  [[{ name: 'a' }], 'list[0]: taskReferenceName must be a text'],
  [[{ name: 'a', taskReferenceName: 'x__1' }], 'without "__"'],
  [[{ name: 'a b', taskReferenceName: 'x' }], 'list[0]: name is "a b"'],
  [[{ name: 'a', taskReferenceName: 'join' }], 'the reference "join" is used already'],
  [[{ name: 'a', taskReferenceName: 'x', type: 'HTTP' }], 'list[0]: type must be SIMPLE'],
  [[{ name: 'a', taskReferenceName: 'x', retryCount: -1 }], 'retryCount must be a whole number'],
])('the list %j fails the run', (list, message) => {
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    inputParameters: { list },
  };
  const run = start([fork, JOIN]);

  expect(runs.run(run).state).toBe('failed');
  expect(JSON.parse(runs.run(run).output).message).toContain(message);
});

test('branches wait until memory has room for all of them, and never begin without it', () => {
  begin({ tasksMax: 10, finishedTasksMax: 0 });
  const numbers = Array.from({ length: 9 }, (_, n) => n);
  const tooMany = start(over(), { items: [...numbers, 9, 10] });
  expect(runs.run(tooMany)).toMatchObject({ state: 'failed', reason: 'run_too_large' });
  partition.submit({ type: 'b' });
  partition.submit({ type: 'b' });
  const run = start(over(), { items: numbers });
  expect(runs.run(run).steps).toHaveLength(2);

  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  partition.now += 200;
  partition.advance();

  expect(runs.run(run).steps).toHaveLength(11);
  expect(partition.state.runs.promised).toBe(0);
});

test('a branch that cannot be a task gives its room back', () => {
  const tasks = [{ taskReferenceName: 'x', name: 'a' }];
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    inputParameters: { list: tasks },
  };
  const run = start([fork, JOIN, { taskReferenceName: 'wait', type: 'HUMAN' }]);
  runs.end(run, 'x', 'complete', 1);

  expect(runs.run(run).promised).toBe(0);
  expect(stepAt(run, 2).state).toBe('running');
});

test('many branches begin in turns, survive a restart, and leave no slot behind', () => {
  begin({ tasksMax: 500, finishedTasksMax: 0 });
  // Nobody holds a branch when the run is cancelled.
  partition.detach(session);
  const items = Array.from({ length: 400 }, (_, n) => n);
  const run = start(over(), { items });
  expect(runs.run(run).steps).toHaveLength(402);
  expect(partition.state.runs.line.length).toBe(1);
  partition.snapshot();
  partition.restart(1, { fromSnapshot: true });
  while (partition.state.runs.line.length > 0) partition.advance();
  const branches = new Branches(partition.state, testUtf8);
  const { slot } = runs.run(run).steps[400];
  expect(branches.at(slot)).toMatchObject({ reference: '_a_399', name: 'a' });
  runs.cancel(run);
  while (partition.state.runs.line.length > 0) partition.advance();

  expect(runs.run(run).state).toBe('cancelled');
  partition.submit({});
  partition.submit({});
  expect(partition.state.runs.steps.inUse).toBe(0);
});

test('a DYNAMIC step runs the type that an input names', () => {
  const step = {
    taskReferenceName: 'dynamic',
    type: 'DYNAMIC',
    dynamicTaskNameParam: 'type',
    inputParameters: { type: '${workflow.input.type}' },
  };
  const output = { type: '${dynamic.taskType}' };
  const run = start([step], { type: 'b' }, { outputParameters: output });
  answer({ type: 'b' }, 1);
  const bad = start([step], { type: 'no such type!' }, { outputParameters: output });

  expect(outputOf(run)).toEqual({ type: 'b' });
  expect(runs.run(bad)).toMatchObject({ state: 'failed', reason: 'bad_value' });
  expect(runs.run(bad).output).toContain('type is \\"no such type!\\"');
});

test.each([
  [{ inputParameters: {} }, '/tasks/0/inputParameters/forkTaskInputs', 'missing_field'],
  [{ dynamicForkTasksParam: 'x' }, '/tasks/0/dynamicForkTasksParam', 'bad_field'],
  [{ retryCount: -1 }, '/tasks/0/retryCount', 'bad_field'],
  [{ optional: 3 }, '/tasks/0/optional', 'bad_field'],
])('a definition with %j is refused once', (more, path, code) => {
  const isForm = 'dynamicForkTasksParam' in more;
  const [fork] = over(isForm ? { inputParameters: {}, ...more } : more);
  const { problems } = compileDefinition({ tasks: [fork, JOIN] }, testUtf8);

  expect(problems).toEqual([expect.objectContaining({ path, code })]);
});

test('a dynamic fork needs its join', () => {
  const [fork] = over();
  const { problems } = compileDefinition({ tasks: [fork] }, testUtf8);

  expect(problems).toEqual([expect.objectContaining({ code: 'fork_without_join' })]);
});
