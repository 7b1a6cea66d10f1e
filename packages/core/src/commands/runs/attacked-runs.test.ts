/** Inputs and calls that once ended the server, stalled it, or spoilt a run. */
import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { valueProblems } from '../../schema/check-value.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({ arenaChunkBytes: 2 ** 20 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a', 'a_'], slots: 20 }).session as SessionId;
});

const step = (taskReferenceName: string, more: object = {}) => ({
  name: 'a',
  taskReferenceName,
  inputParameters: { of: taskReferenceName },
  ...more,
});
const JOIN = { taskReferenceName: 'join', type: 'JOIN' };

function start(tasks: readonly object[], input: unknown = {}, more: object = {}): number {
  expect(runs.register('flow', { tasks, ...more }).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

/** Ends the oldest task that the worker holds. */
function end(kind: 'succeeded' | 'failed' = 'succeeded', output: unknown = {}): void {
  const [lease] = partition.leasesOf(session);
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
}

function waiting(): unknown[] {
  return partition.heldBy(session).map((number) => {
    return JSON.parse(Buffer.from(partition.task(number).input).toString());
  });
}

function checkReplay(): void {
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test.each(['2026-13-45', '2026-02-30', '9999-99-99T00:00'])('a WAIT until %s fails', (until) => {
  const inputParameters = { until: '${workflow.input.until}' };
  const run = start([{ taskReferenceName: 'w', type: 'WAIT', inputParameters }], { until });

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
});

test.each([5, 'text', [1]])('variables are not replaced by %j', (input) => {
  const set = { taskReferenceName: 'v', type: 'SET_VARIABLE', inputParameters: { x: 1 } };
  const run = start([set, step('last')], {}, { variables: { x: 0 } });
  end();

  expect(runs.revive(run, 'rerun', 'v', input).rejection).toBe('input_not_object');
  expect(runs.revive(run, 'rerun', 'v', { x: 2 }).rejection).toBeUndefined();
  expect(runs.run(run).variables).toBe('{"x":2}');
});

test('a value that is nested too deeply fails its step', () => {
  let deep: unknown = '${workflow.variables.v}';
  for (let level = 0; level < 400; level++) deep = [deep];
  const set = { taskReferenceName: 'v', type: 'SET_VARIABLE', inputParameters: { v: deep } };
  const items = Array.from({ length: 40 }, (_, n) => n);
  const inputParameters = { workflowOutput: '${workflow.variables.v}' };
  const run = start([
    { taskReferenceName: 'loop', type: 'DO_WHILE', items, loopOver: [set] },
    { taskReferenceName: 'end', type: 'TERMINATE', inputParameters },
  ]);
  while (partition.state.runs.line.length > 0) partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
});

test('a DYNAMIC step takes no inherited name', () => {
  const dynamic = { taskReferenceName: 'd', type: 'DYNAMIC', dynamicTaskNameParam: 'toString' };
  const run = start([{ ...dynamic, inputParameters: { toString: 'a' } }]);
  end();

  expect(runs.revive(run, 'rerun', 'd', {}).rejection).toBeUndefined();
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
});

test('a schema cannot overflow or stall a check', () => {
  const required = Array.from({ length: 150_000 }, (_, n) => `n${n}`);
  expect(valueProblems({ properties: { a: { required } } }, { a: {} })).toHaveLength(50);
  const next = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const names = Array.from({ length: 16 }, (_, n) => [`d${n}`, n < 15 ? next(n + 1) : {}]);
  const schema = { $defs: Object.fromEntries(names), ...next(0) };

  expect(valueProblems(schema, 'x'.repeat(260_000))).toMatchObject([
    { problem: 'takes too long to check against the schema' },
  ]);
});

const inner = (loopOver: readonly object[]) => ({
  taskReferenceName: 'inner',
  type: 'DO_WHILE',
  items: [1, 2],
  loopOver,
});

test('a step of an inner loop in an older iteration begins the outer loop again', () => {
  const outer = { taskReferenceName: 'outer', type: 'DO_WHILE', items: [1, 2] };
  const run = start([{ ...outer, loopOver: [inner([step('p')])] }, step('after')]);
  for (let n = 0; n < 5; n++) end();
  expect(runs.run(run).state).toBe('succeeded');

  expect(runs.revive(run, 'rerun', 'p__1__1').rejection).toBeUndefined();
  expect(waiting()).toEqual([{ of: 'p' }]);
  for (let n = 0; n < 5; n++) end();
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', promised: 0 });
  checkReplay();
});

test('a step whose loop begins again, or that follows one that does, cannot be skipped', () => {
  const failing = step('p', { permissive: true });
  const loop = start([{ ...inner([failing]), taskReferenceName: 'loop' }]);
  end('failed');
  end();
  expect(runs.run(loop).state).toBe('failed');
  expect(runs.end(loop, 'p__1', 'skip').rejection).toBe('step_not_waiting');

  runs.register('two', { tasks: [failing, step('b'), step('c')] });
  const two = runs.begin('two');
  end('failed');
  end('failed');
  expect(runs.run(two).state).toBe('failed');
  expect(runs.end(two, 'b', 'skip').rejection).toBe('step_not_waiting');
  checkReplay();
});

test('an input goes to its step or is refused', () => {
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2] };
  const run = start([step('x', { permissive: true }), { ...loop, loopOver: [step('p')] }]);
  end('failed');
  end();
  end();

  expect(runs.revive(run, 'rerun', 'p__1', { of: 'other' }).rejection).toBe('input_not_used');
});

test('a failure that left memory is not forgotten by a retry', () => {
  const inputParameters = { keepLastN: 1 };
  const loopOver = [step('p', { permissive: true })];
  const run = start([{ ...inner(loopOver), inputParameters }]);
  end('failed');
  end();
  expect(runs.run(run).state).toBe('failed');

  expect(runs.revive(run, 'retry').rejection).toBe('run_finished');
});

test('a run below another one cannot go on before its end was taken', () => {
  partition = new TestPartition({}, { runUnits: 1 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 1 }).session as SessionId;
  const child = { name: 'child', workflowDefinition: { tasks: [step('inner')] } };
  const run = start([{ taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam: child }]);
  while (waiting().length === 0) partition.advance();
  const { child: number } = runs.run(run).steps[0];
  end('failed');
  while (runs.run(number).state !== 'failed') partition.advance();
  expect(runs.run(run).steps[0].state).toBe('reported');

  expect(runs.revive(number, 'retry').rejection).toBe('run_not_finished');
  while (partition.state.runs.line.length > 0) partition.advance();
  expect(runs.run(run).state).toBe('failed');
});

test('a branch that a call completed has its output, whatever its name is', () => {
  const inputParameters = { forkTaskName: 'a_', forkTaskInputs: ['x', 'y'] };
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters };
  const run = start([fork, JOIN]);
  end('succeeded', 'first');
  end('failed');
  expect(runs.end(run, '_a__1', 'complete', 'by call').rejection).toBeUndefined();

  expect(JSON.parse(runs.run(run).output)).toEqual({ _a__0: 'first', _a__1: 'by call' });
  checkReplay();
});

test('a branch may be called like a property of every object', () => {
  const list = [{ taskReferenceName: 'constructor', name: 'a', inputParameters: { of: 1 } }];
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    inputParameters: { list },
  };
  start([fork, JOIN]);

  expect(waiting()).toEqual([{ of: 1 }]);
});

test('a SET_VARIABLE that failed is skipped, not completed: it makes its output itself', () => {
  const v = '${workflow.input.v}';
  const set = { taskReferenceName: 'v', type: 'SET_VARIABLE', inputParameters: { v, w: v } };
  partition = new TestPartition({
    arenaChunkBytes: 2 ** 20,
    payloadBytesMax: 2 ** 22,
    finishedTasksMax: 10,
  });
  runs = new TestRuns(partition);
  const run = start([set], { v: 'x'.repeat(200_000) }, { variables: { v: 0 } });
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'value_too_large' });

  expect(runs.end(run, 'v', 'complete', { v: 1 }).rejection).toBe('step_not_waiting');
  expect(runs.end(run, 'v', 'skip').rejection).toBeUndefined();

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', variables: '{"v":0}' });
  checkReplay();
});
