import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => begin());

function begin(limits: ConstructorParameters<typeof TestPartition>[0] = {}): void {
  partition = new TestPartition(limits);
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 20 }).session as SessionId;
}

const step = (taskReferenceName: string, more: object = {}) => ({
  name: 'a',
  taskReferenceName,
  inputParameters: { of: taskReferenceName },
  ...more,
});

function start(tasks: readonly object[], more: object = {}): number {
  expect(runs.register('flow', { tasks, ...more }).rejection).toBeUndefined();
  return runs.begin('flow', { n: 1 });
}

function held(): { of: string }[] {
  return partition.heldBy(session).map((number) => {
    return JSON.parse(Buffer.from(partition.task(number).input).toString());
  });
}

/** Ends the task whose input names this step. */
function end(of: string, kind: 'succeeded' | 'failed' = 'succeeded', output: unknown = of): void {
  const index = held().findIndex((input) => input.of === of);
  expect(index, `${of} is held`).toBeGreaterThanOrEqual(0);
  const lease = partition.leasesOf(session)[index];
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
}

function waiting(): string[] {
  return held().map(({ of }) => of);
}

/** The state after a replay of the log, and after a start from a snapshot, is the same. */
function checkReplay(): void {
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a retry runs the step that failed again, and the run goes on', () => {
  const run = start([step('one'), step('two'), step('three')]);
  end('one');
  end('two', 'failed');
  expect(runs.run(run)).toMatchObject({ state: 'failed', promised: 0 });
  partition.snapshot();

  expect(runs.revive(run, 'retry').rejection).toBeUndefined();
  expect(runs.run(run)).toMatchObject({ state: 'running', output: '', endedAt: 0, promised: 1 });
  expect(waiting()).toEqual(['two']);
  end('two');
  end('three');

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '"three"' });
  checkReplay();
});

test('branches that were stopped run again; those that succeeded do not', () => {
  const forkTasks = [[step('a1'), step('a2')], [step('b1')], [step('c1')]];
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks };
  const run = start([fork, { taskReferenceName: 'join', type: 'JOIN' }]);
  end('c1');
  end('a1', 'failed');
  end('b1');
  expect(runs.run(run).state).toBe('failed');

  runs.revive(run, 'retry');
  expect(waiting().toSorted()).toEqual(['a1', 'b1']);
  for (const of of ['b1', 'a1', 'a2']) end(of);

  expect(JSON.parse(runs.run(run).output)).toEqual({ a2: 'a2', b1: 'b1', c1: 'c1' });
  checkReplay();
});

test('branches of a dynamic fork that failed run again', () => {
  const inputParameters = { forkTaskName: 'a', forkTaskInputs: [{ of: 'x' }, { of: 'y' }] };
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters };
  const run = start([fork, { taskReferenceName: 'join', type: 'JOIN' }]);
  end('x');
  end('y', 'failed');
  runs.revive(run, 'retry');
  expect(waiting()).toEqual(['y']);
  end('y');

  expect(JSON.parse(runs.run(run).output)).toEqual({ _a_0: 'x', _a_1: 'y' });
  checkReplay();
});

test('a loop goes on with the iteration in which its body failed', () => {
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2] };
  const run = start([{ ...loop, loopOver: [step('body'), step('last')] }, step('after')]);
  for (const of of ['body', 'last', 'body']) end(of);
  end('last', 'failed');
  runs.revive(run, 'retry');
  expect(waiting()).toEqual(['last']);
  end('last');
  end('after');

  expect(runs.run(run).state).toBe('succeeded');
  expect(runs.run(run).steps.filter(({ node }) => node === 2)).toHaveLength(2);
  checkReplay();
});

test('a permissive step that failed runs again, and what followed it', () => {
  const run = start([step('one', { permissive: true }), step('two')]);
  end('one', 'failed');
  end('two');
  expect(runs.run(run).state).toBe('failed');
  runs.revive(run, 'retry');
  expect(waiting()).toEqual(['one']);
  end('one');
  end('two');

  expect(runs.run(run).state).toBe('succeeded');
  checkReplay();
});

test('a rerun begins with a step, with another input, and does again all that follows', () => {
  const choice = {
    taskReferenceName: 'choice',
    type: 'SWITCH',
    evaluatorType: 'value-param',
    expression: 'k',
    inputParameters: { k: '${one.output}' },
    decisionCases: { left: [step('left')] },
    defaultCase: [step('other')],
  };
  const run = start([step('zero'), step('one'), choice, step('last')]);
  end('zero');
  end('one', 'succeeded', 'left');
  end('left');
  end('last');
  expect(runs.run(run).state).toBe('succeeded');

  expect(runs.revive(run, 'rerun', 'one', { of: 'changed' }).rejection).toBeUndefined();
  expect(waiting()).toEqual(['changed']);
  end('changed', 'succeeded', 'right');
  end('other');
  end('last');

  const states = runs.run(run).steps.map(({ node, state }) => `${node} ${state}`);
  expect(states).toEqual([
    '0 succeeded',
    '1 succeeded',
    '2 succeeded',
    '3 pending',
    '4 succeeded',
    '5 succeeded',
  ]);
  checkReplay();
});

test('a join counts again which branches are over', () => {
  const forkTasks = [[step('a')], [step('b')]];
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks };
  const run = start([fork, { taskReferenceName: 'join', type: 'JOIN' }, step('last')]);
  for (const of of ['a', 'b', 'last']) end(of);

  runs.revive(run, 'rerun', 'b');
  expect(waiting()).toEqual(['b']);
  end('b');
  end('last');
  expect(runs.run(run).state).toBe('succeeded');
  runs.revive(run, 'rerun', 'fork');
  expect(waiting()).toEqual(['a', 'b']);
  checkReplay();
});

test('a step of an older iteration begins its whole loop again', () => {
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2] };
  const run = start([{ ...loop, loopOver: [step('body')] }]);
  end('body');
  end('body');
  const { inUse } = partition.state.runs.steps;

  runs.revive(run, 'rerun', 'body__1');
  expect(runs.run(run).steps).toHaveLength(2);
  expect(partition.state.runs.steps.inUse).toBeLessThan(inUse);
  end('body');
  end('body');
  expect(runs.run(run).state).toBe('succeeded');
  runs.revive(run, 'rerun', 'body__2');
  expect(runs.run(run).steps).toHaveLength(3);
  end('body');
  expect(runs.run(run).state).toBe('succeeded');
  checkReplay();
});

test('a restart begins everything again, with the variables of the start', () => {
  const set = (n: number) => ({
    taskReferenceName: `set${n}`,
    type: 'SET_VARIABLE',
    inputParameters: { v: n },
  });
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1], loopOver: [step('in')] };
  const run = start([step('one'), set(1), loop], { variables: { v: 0 } });
  end('one');
  end('in');
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', variables: '{"v":1}' });

  runs.revive(run, 'restart');
  expect(runs.run(run)).toMatchObject({ state: 'running', variables: '{"v":0}' });
  expect(waiting()).toEqual(['one']);
  end('one');
  end('in');
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', variables: '{"v":1}' });
  checkReplay();
});

test('a run that timed out has its whole time again', () => {
  const run = start([step('one')], { timeoutSeconds: 1 });
  partition.now += 1001;
  partition.advance();
  end('one');
  expect(runs.run(run).state).toBe('timed_out');
  runs.revive(run, 'retry');

  expect(runs.run(run).until).toBe(partition.now + 1000);
});

test('what cannot go on is refused', () => {
  const terminate = {
    taskReferenceName: 'end',
    type: 'TERMINATE',
    inputParameters: { terminationStatus: 'FAILED' },
  };
  const run = start([step('one'), terminate]);
  expect(runs.revive(run, 'retry').rejection).toBe('run_not_finished');
  end('one');

  expect(runs.revive(run, 'retry').rejection).toBe('run_finished');
  expect(runs.revive(run, 'rerun', 'none').rejection).toBe('step_not_found');
  expect(runs.revive(run, 'rerun', 'one').rejection).toBeUndefined();
  end('one');
  expect(runs.run(run).state).toBe('failed');
});

test('a rerun from a step of a case that was not taken is refused', () => {
  const choice = {
    taskReferenceName: 'choice',
    type: 'SWITCH',
    expression: 'k',
    inputParameters: { k: 'other' },
    decisionCases: { x: [step('inside')] },
    defaultCase: [],
  };
  const run = start([choice]);

  expect(runs.run(run).state).toBe('succeeded');
  expect(runs.revive(run, 'rerun', 'inside').rejection).toBe('step_not_found');
});

test('a run that succeeded has nothing to retry, and a fork takes no input', () => {
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: [[step('a')]] };
  const run = start([fork, { taskReferenceName: 'join', type: 'JOIN' }]);
  end('a');

  expect(runs.revive(run, 'retry').rejection).toBe('run_finished');
  expect(runs.revive(run, 'rerun', 'fork', {}).rejection).toBe('input_not_used');
});

test('without room for its tasks a run stays as it is', () => {
  begin({ tasksMax: 4, finishedTasksMax: 4 });
  const run = start([step('one'), step('two')]);
  end('one', 'failed');
  for (let n = 0; n < 3; n++) partition.submit({ type: 'b' });

  expect(runs.revive(run, 'restart').rejection).toBe('too_many_tasks');
  expect(runs.run(run).state).toBe('failed');
});

test('a step whose run failed below it starts another run', () => {
  const child = { name: 'child', workflowDefinition: { tasks: [step('inner')] } };
  const sub = { taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam: child };
  const run = start([sub]);
  end('inner', 'failed');
  const { child: first } = runs.run(run).steps[0];
  expect(runs.run(run).state).toBe('failed');

  runs.revive(run, 'retry');
  expect(runs.run(run).steps[0].child).not.toBe(first);
  end('inner');
  expect(runs.run(run).state).toBe('succeeded');
  checkReplay();
});

test('a step that failed is skipped or completed, and the run goes on', () => {
  const run = start([
    step('one'),
    step('two', { inputParameters: { of: 'two', x: '${one.output}' } }),
  ]);
  end('one', 'failed');
  expect(runs.end(run, 'one', 'skip').rejection).toBeUndefined();
  expect(held()).toEqual([{ of: 'two', x: null }]);
  expect(runs.run(run).steps[0]).toMatchObject({ state: 'skipped', task: 0 });
  end('two', 'failed');
  expect(runs.end(run, 'two', 'complete', { by: 'hand' }).rejection).toBeUndefined();

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"by":"hand"}' });
  expect(runs.end(run, 'two', 'skip').rejection).toBe('run_finished');
  checkReplay();
});

test('a skipped branch counts for its join, and what was stopped beside it begins again', () => {
  const forkTasks = [[step('a')], [step('b')]];
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks };
  const run = start([fork, { taskReferenceName: 'join', type: 'JOIN' }]);
  end('a', 'failed');
  end('b');
  expect(runs.run(run).state).toBe('failed');
  runs.end(run, 'a', 'skip');
  expect(waiting()).toEqual(['b']);
  end('b');

  expect(JSON.parse(runs.run(run).output)).toEqual({ a: null, b: 'b' });
  checkReplay();
});

test('a step that runs cannot be skipped', () => {
  const run = start([step('one'), step('two')]);

  expect(runs.end(run, 'one', 'skip').rejection).toBe('step_not_waiting');
});

test('a step that was stopped is not completed: a late approval does not undo a cancel', () => {
  const run = start([{ taskReferenceName: 'ask', type: 'HUMAN' }]);
  runs.cancel(run);

  expect(runs.end(run, 'ask').rejection).toBe('run_finished');
  expect(runs.end(run, 'ask', 'skip').rejection).toBeUndefined();
  expect(runs.run(run).state).toBe('succeeded');
});
