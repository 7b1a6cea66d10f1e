import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { describeRuns } from '../../testing/runs/describe-runs.ts';
import { runProblems } from '../../testing/runs/run-problems.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  use(new TestPartition());
});

function use(made: TestPartition): void {
  partition = made;
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
}

const one = { name: 'a', taskReferenceName: 'one', inputParameters: { n: '${workflow.input.n}' } };
const after = { name: 'a', taskReferenceName: 'after', inputParameters: { x: '${sub.output}' } };
const sub = (more: object = {}) => ({
  taskReferenceName: 'sub',
  type: 'SUB_WORKFLOW',
  subWorkflowParam: { name: 'child' },
  inputParameters: { n: '${workflow.input.n}' },
  ...more,
});
const start = (startWorkflow: unknown, more: object = {}) => ({
  taskReferenceName: 'start',
  type: 'START_WORKFLOW',
  inputParameters: { startWorkflow },
  ...more,
});

function register(name: string, tasks: readonly object[], more: object = {}): void {
  expect(runs.register(name, { tasks, ...more }).rejection).toBeUndefined();
}

/** A parent with these steps, and a child of one step. */
function begin(tasks: readonly object[], input: unknown = { n: 7 }, more: object = {}): number {
  register('child', [one]);
  register('parent', tasks);
  return runs.begin('parent', input, more);
}

/** The newest run but for the parent. */
function childOf(run: number): number {
  return runs.run(run).steps.findLast(({ child }) => child !== 0)?.child ?? 0;
}

/** Ends the oldest task that the worker holds; returns its input. */
function finish(output: unknown = {}, kind: 'succeeded' | 'failed' = 'succeeded'): unknown {
  const [lease] = partition.leasesOf(session);
  const [number] = partition.heldBy(session);
  const { input } = partition.task(number);
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
  return JSON.parse(Buffer.from(input).toString());
}

function stateOf(run: number, place = 0): string {
  return runs.run(run).steps[place].state;
}

function errorOf(run: number): { code: string; message: string; step?: string } {
  return JSON.parse(runs.run(run).output);
}

function isSound(): void {
  expect(runProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a step runs another workflow, and its output is the output of that run', () => {
  const run = begin([sub(), after], { n: 7 }, { priority: 3, correlationId: 'order 1' });
  const child = childOf(run);
  const shown = { parent: run, parentReference: 'sub', relation: 'sub_workflow', depth: 1 };
  expect(runs.run(child)).toMatchObject({ ...shown, priority: 3, correlation: 'order 1' });
  expect(stateOf(run)).toBe('running');
  isSound();

  expect(finish({ k: 1 })).toEqual({ n: 7 });

  expect(runs.run(child).state).toBe('succeeded');
  expect(finish()).toEqual({ x: { k: 1 } });
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test('a step that starts a workflow does not wait for it', () => {
  const run = begin([
    start({ name: 'child', version: 1, input: { n: [1] }, correlationId: 'other' }),
  ]);
  const child = childOf(run);

  expect(runs.run(run)).toMatchObject({ state: 'succeeded' });
  expect(runs.run(run).output).toBe(JSON.stringify({ workflowId: runs.id(child) }));
  const shown = { parent: run, parentReference: 'start', relation: 'start_workflow', depth: 1 };
  expect(runs.run(child)).toMatchObject({ ...shown, correlation: 'other', state: 'running' });
  expect(runs.cancel(run).rejection).toBe('run_finished');
  expect(finish()).toEqual({ n: [1] });
  expect(runs.run(child).state).toBe('succeeded');
  isSound();
});

test('a child that stands in the definition of its parent need not be registered', () => {
  const inside = { tasks: [{ ...one, inputParameters: { text: '${workflow.input.n}!' } }] };
  const workflowDefinition = { ...inside, inputTemplate: { n: 'none' } };
  const param = { name: 'inside', workflowDefinition };
  const run = begin([sub({ subWorkflowParam: param, inputParameters: {} }), after]);
  const before = partition.state.programs.count;

  expect(finish({ k: 1 })).toEqual({ text: 'none!' });
  runs.begin('parent');

  expect(partition.state.programs.count).toBe(before);
  expect(runs.run(childOf(run)).program).toBe('inside/0');
  isSound();
});

test('which workflow runs may come from an expression', () => {
  register('other', [{ taskReferenceName: 'set', type: 'NOOP' }]);
  const subWorkflowParam = { name: '${workflow.input.which}', version: '${workflow.input.v}' };
  const run = begin([sub({ subWorkflowParam })], { which: 'other' });

  expect(runs.run(run).state).toBe('succeeded');
  expect(runs.run(childOf(run)).program).toBe('other/1');
  const bad = runs.begin('parent', { which: 'a b' });
  expect(errorOf(bad)).toMatchObject({ code: 'bad_value', step: 'sub' });
  expect(errorOf(bad).message).toMatch(/name must be the name of a workflow: letters/);
  const version = runs.begin('parent', { which: 'other', v: 1.5 });
  expect(errorOf(version).message).toMatch(/version must be a whole number from 1/);
});

test('a child that fails, fails its step by name', () => {
  const run = begin([sub(), after]);
  const id = runs.id(childOf(run));

  finish({ message: 'no' }, 'failed');

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'child_failed' });
  const { code, message, step } = errorOf(run);
  expect({ code, step }).toEqual({ code: 'child_failed', step: 'sub' });
  expect(message).toBe(
    `step "sub": run ${id} of "child" ended as failed: step "one" did not succeed: no`,
  );
  isSound();
});

test('an optional step goes on when its child fails, a permissive one fails the run later', () => {
  const run = begin([sub({ optional: true }), after]);
  finish({}, 'failed');
  expect(finish()).toEqual({ x: null });
  expect(runs.run(run).state).toBe('succeeded');
  expect(stateOf(run)).toBe('completed_with_errors');

  const other = runs.register('permissive', { tasks: [sub({ permissive: true }), after] });
  expect(other.rejection).toBeUndefined();
  const second = runs.begin('permissive');
  finish({}, 'failed');
  finish();
  expect(runs.run(second).state).toBe('failed');
});

test('a child that times out or is cancelled ends its parent in the same way', () => {
  register('child', [one], { timeoutSeconds: 10 });
  register('parent', [sub()]);
  const late = runs.begin('parent');
  partition.now += 10_000;
  partition.advance();
  partition.now += 10_000;
  partition.advance();
  expect(runs.run(childOf(late))).toMatchObject({ state: 'timed_out', reason: 'run_timeout' });
  expect(runs.run(late)).toMatchObject({ state: 'timed_out', reason: 'child_failed' });

  const run = runs.begin('parent');
  runs.cancel(childOf(run));
  finish();
  expect(runs.run(run)).toMatchObject({ state: 'cancelled', reason: 'child_failed' });
  isSound();
});

test('a cancel reaches every descendant, and each level ends after its children', () => {
  register('bottom', [one]);
  const down = (name: string) => sub({ subWorkflowParam: { name } });
  register('middle', [down('bottom')]);
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN',
    forkTasks: [[down('middle')], [{ ...down('bottom'), taskReferenceName: 'second' }]],
  };
  register('top', [fork, { taskReferenceName: 'join', type: 'JOIN' }]);
  const run = runs.begin('top');
  expect(partition.heldBy(session)).toHaveLength(2);

  runs.cancel(run);

  const states = () => describeRuns(partition.state).map(({ state }) => state);
  expect(states()).toEqual(['stopping', 'stopping', 'stopping', 'stopping']);
  finish();
  expect(runs.run(run).state).toBe('stopping');
  finish();
  expect(states()).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
  const below = describeRuns(partition.state).filter(({ depth }) => depth > 0);
  expect(below.map(({ reason }) => reason)).toEqual(Array(3).fill('parent_stopped'));
  isSound();
});

test('a parent that times out stops its child, also one that is paused', () => {
  register('child', [{ taskReferenceName: 'wait', type: 'HUMAN' }]);
  register('parent', [sub()], { timeoutSeconds: 5 });
  const run = runs.begin('parent');
  const child = childOf(run);
  runs.pause(child, true);
  partition.now += 5000;

  partition.advance();

  expect(runs.run(child)).toMatchObject({ state: 'cancelled', reason: 'parent_stopped' });
  expect(runs.run(run)).toMatchObject({ state: 'timed_out', reason: 'run_timeout' });
});

test('a paused parent takes the end of its child and goes on when it is resumed', () => {
  const run = begin([sub(), after]);
  runs.pause(run, true);
  expect(runs.run(childOf(run)).state).toBe('running');

  finish({ k: 1 });

  expect(stateOf(run)).toBe('succeeded');
  expect(partition.heldBy(session)).toEqual([]);
  runs.pause(run, false);
  expect(finish()).toEqual({ x: { k: 1 } });
});

test('a child ends its step once, also after restarts', () => {
  use(new TestPartition({}, { runUnits: 1 }));
  const run = begin([sub(), after]);
  const restart = (fromSnapshot: boolean) => {
    partition.snapshot();
    const leases = partition.leasesOf(session);
    partition.restart(60_000, { fromSnapshot });
    session = partition.resume(session, leases, { types: ['a'], slots: 10 }).session as SessionId;
  };
  const drain = () => {
    for (let n = 0; partition.state.runs.line.length > 0; n++) {
      restart(n % 2 === 0);
      partition.advance();
      isSound();
    }
  };
  drain();

  finish({ k: 1 });
  drain();

  expect(finish()).toEqual({ x: { k: 1 } });
  drain();
  expect(runs.run(run).state).toBe('succeeded');
  const ends = describeRuns(partition.state).map(({ state }) => state);
  expect(ends).toEqual(['succeeded', 'succeeded']);
});

test('a workflow that calls itself without end fails clearly', () => {
  register('child', [sub()]);
  const run = runs.begin('child');
  partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'child_failed' });
  const all = describeRuns(partition.state);
  expect(all).toHaveLength(33);
  expect(all.at(-1)).toMatchObject({ state: 'failed', reason: 'too_deep', depth: 32 });
  const { message } = errorOf(all.at(-1)?.number ?? 0);
  expect(message).toMatch(/at most 32 deep; does "child" call itself\?/);
  expect(errorOf(run).message).toMatch(/^step "sub": run .* … .*does "child" call itself\?$/);
  isSound();
});

test('a workflow that starts itself without end fails clearly', () => {
  register('child', [start({ name: 'child' })]);
  runs.begin('child');
  partition.advance();

  const all = describeRuns(partition.state);
  expect(all).toHaveLength(33);
  expect(all.at(-1)).toMatchObject({ state: 'failed', reason: 'too_deep' });
});

test.each([
  [{ name: 'none' }, /there is no workflow "none"; register it/],
  [{ name: 'child', version: 9 }, /there is no workflow version 9 of "child"/],
])('a step that runs %j fails by name', (which, message) => {
  const run = begin([sub({ subWorkflowParam: which })]);
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'workflow_not_found' });
  expect(errorOf(run).message).toMatch(message);

  register('starts', [start(which)]);
  expect(errorOf(runs.begin('starts')).message).toMatch(message);
  isSound();
});

test('a child waits for room in memory, and a stop of its parent does not', () => {
  use(new TestPartition({ tasksMax: 4, finishedTasksMax: 0 }));
  const run = begin([sub()]);
  finish();
  expect(runs.run(run).state).toBe('succeeded');
  partition.submit({}, {}, {});
  partition.now += 100;
  partition.advance();
  const second = runs.begin('parent');
  partition.submit({});
  partition.now += 100;
  partition.advance();
  isSound();

  runs.cancel(second);
  finish();

  expect(['cancelled', 'stopping']).toContain(runs.run(second).state);
});

test('no call ends a step that waits for a run', () => {
  const run = begin([sub()]);

  expect(runs.end(run, 'sub').rejection).toBe('step_not_waiting');
  expect(runs.end(run, 'sub', 'fail').rejection).toBe('step_not_waiting');
});

test('a loop runs a child in each iteration', () => {
  const loop = {
    taskReferenceName: 'loop',
    type: 'DO_WHILE',
    items: ['x', 'y'],
    inputParameters: { keepLastN: 1 },
    loopOver: [sub({ inputParameters: { n: '${loop.output.loopItem}' } })],
  };
  const run = begin([loop]);

  expect(finish(1)).toEqual({ n: 'x' });
  expect(finish(2)).toEqual({ n: 'y' });

  expect(runs.run(run).state).toBe('succeeded');
  const references = describeRuns(partition.state).map(({ parentReference }) => parentReference);
  expect(references).toEqual(['', 'sub__1', 'sub__2']);
  isSound();
});

test('a child stays in memory until its parent has taken its output', () => {
  use(new TestPartition({ finishedTasksMax: 0 }, { runUnits: 1 }));
  const run = begin([sub(), after]);
  while (partition.state.runs.line.length > 0) partition.advance();
  finish({ k: 1 });
  partition.advance();
  partition.advance();
  isSound();
  while (partition.state.runs.line.length > 0) partition.advance();

  partition.advance();

  expect(describeRuns(partition.state).map(({ number }) => number)).toEqual([run]);
  expect(finish()).toEqual({ x: { k: 1 } });
});
