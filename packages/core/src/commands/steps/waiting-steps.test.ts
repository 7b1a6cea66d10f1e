import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
});

function start(tasks: readonly object[], more: object = {}): number {
  expect(runs.register('flow', { tasks, ...more }).rejection).toBeUndefined();
  return runs.begin('flow');
}

function stateOf(run: number, place: number): string {
  return runs.run(run).steps[place].state;
}

function isReplayed(): void {
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

const wait = (inputParameters: object = {}, more: object = {}) => ({
  taskReferenceName: 'wait',
  type: 'WAIT',
  inputParameters,
  ...more,
});
const after = { name: 'a', taskReferenceName: 'after', inputParameters: { x: '${wait.output}' } };
const one = { name: 'a', taskReferenceName: 'one' };
const two = { name: 'a', taskReferenceName: 'two' };
const script = (expression: string, more: object = {}) => ({
  taskReferenceName: 'script',
  type: 'INLINE',
  inputParameters: { expression, n: '${workflow.input.n}' },
  ...more,
});

test('a wait ends at its time, never before, also after a restart', () => {
  const run = start([wait({ duration: '10 minutes' }), after]);
  partition.now += 10 * 60_000 - 1;
  partition.restart(1);
  partition.advance();
  expect(stateOf(run, 0)).toBe('running');

  partition.now += 1;
  partition.advance();

  expect(stateOf(run, 0)).toBe('succeeded');
  expect(stateOf(run, 1)).toBe('running');
  isReplayed();
});

test('a wait until a time that has passed goes on at once', () => {
  const run = start([wait({ until: '1970-01-01T00:00:00.001Z' }), after]);
  partition.advance();

  expect(stateOf(run, 1)).toBe('running');
});

test.each([
  [{ duration: '${workflow.input.none}' }, 'running'],
  [{ duration: '${workflow.workflowId}' }, 'failed'],
])('a wait of %j is %s', (inputParameters, state) => {
  const run = start([wait(inputParameters), after]);

  expect(stateOf(run, 0)).toBe(state);
  if (state === 'failed') expect(runs.run(run).output).toContain('1 hour 30 minutes');
});

test('a wait for a call takes its output, and only once', () => {
  const run = start([wait(), after]);

  expect(runs.end(run, 'wait', 'complete', { ok: true }).rejection).toBeUndefined();
  expect(runs.end(run, 'wait').rejection).toBe('step_not_waiting');
  expect(runs.end(run, 'nobody').rejection).toBe('step_not_found');
  expect(runs.end(run, 'wait__1').rejection).toBe('step_not_found');

  const [number] = partition.heldBy(session);
  expect(Buffer.from(partition.task(number).input).toString()).toBe('{"x":{"ok":true}}');
});

test('a step that is failed by a call fails the run, unless it is optional', () => {
  const human = { taskReferenceName: 'ask', type: 'HUMAN' };
  const run = start([human, two]);
  runs.end(run, 'ask', 'fail');
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'failed_by_call' });
  expect(JSON.parse(runs.run(run).output)).toEqual({
    code: 'failed_by_call',
    message: 'no',
    step: 'ask',
  });
  expect(runs.end(run, 'ask', 'fail').rejection).toBe('run_finished');

  runs.register('flow', { tasks: [{ ...human, optional: true }, two] }, 2);
  const optional = runs.begin('flow');
  runs.end(optional, 'ask', 'fail');
  expect(stateOf(optional, 0)).toBe('completed_with_errors');
  expect(stateOf(optional, 1)).toBe('running');
});

test('a step with a task can be ended by a call, and its worker is told', () => {
  const run = start([one]);
  runs.end(run, 'one', 'complete', 7);

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '7' });
  expect(partition.heldBy(session)).toEqual([]);
});

test('a paused run takes the ends of its tasks and begins nothing', () => {
  const run = start([one, two]);
  runs.pause(run, true);
  partition.restart(1);
  const [lease] = partition.leasesOf(session);
  session = partition.resume(session, [lease], { types: ['a'], slots: 10 }).session as SessionId;
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  expect(runs.run(run)).toMatchObject({ state: 'paused' });
  expect(stateOf(run, 0)).toBe('succeeded');
  expect(stateOf(run, 1)).toBe('due');

  runs.pause(run, false);

  expect(stateOf(run, 1)).toBe('running');
  isReplayed();
});

test('pausing twice changes nothing, and an ended run cannot be paused', () => {
  const run = start([wait()]);
  runs.pause(run, true);
  expect(runs.pause(run, true).rejection).toBeUndefined();
  expect(runs.run(run).state).toBe('paused');
  runs.cancel(run);

  expect(runs.run(run).state).toBe('cancelled');
  expect(runs.pause(run, true).rejection).toBe('run_finished');
});

test('a run that takes too long times out, also while paused; resume starts its time anew', () => {
  const run = start([wait()], { timeoutSeconds: 60 });
  partition.now += 59_999;
  runs.pause(run, true);
  runs.pause(run, false);
  partition.now += 59_999;
  partition.advance();
  runs.pause(run, true);
  expect(runs.run(run).state).toBe('paused');

  partition.now += 1;
  partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'timed_out', reason: 'run_timeout' });
  expect(runs.run(run).output).toContain('timeout of 60 s');
  isReplayed();
});

test('with ALERT_ONLY a run that is late says so once, and goes on', () => {
  const run = start([wait()], { timeoutSeconds: 1, timeoutPolicy: 'ALERT_ONLY' });
  partition.now += 999;
  partition.advance();
  expect(partition.outputs.overdueRuns).toEqual([]);
  partition.restart(1);

  partition.now += 1;
  partition.advance();
  expect(partition.outputs.overdueRuns).toEqual([runs.run(run).slot]);
  partition.now += 10_000;
  partition.advance();

  expect(partition.outputs.overdueRuns).toEqual([]);
  expect(runs.run(run)).toMatchObject({ state: 'running', until: 0 });
  isReplayed();
});

test('a script is asked for with its input, and its value is the output', () => {
  const run = start([script('$.n + 1')], { inputTemplate: { n: 4 } });
  const { slot } = runs.run(run).steps[0];
  expect(partition.outputs.evaluations).toEqual([partition.evaluation(slot)]);
  expect(partition.evaluation(slot)).toMatchObject({
    run,
    evaluation: 1,
    source: '$.n + 1',
    input: '{"n":4}',
  });

  expect(runs.evaluated(slot, { value: '5' })).toBe(0);

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"result":5}' });
  expect(partition.evaluation(slot)).toBeUndefined();
  isReplayed();
});

test('a result that nobody waits for any more is stale', () => {
  const run = start([script('1')]);
  const { slot } = runs.run(run).steps[0];
  const result = { run, step: slot, evaluation: 1, value: '1' };
  expect(partition.evaluated([{ ...result, evaluation: 2 }])).toBe(1);
  expect(partition.evaluated([{ ...result, run: run + 1 }])).toBe(1);
  expect(partition.evaluated([{ ...result, step: 9999 }])).toBe(1);

  expect(partition.evaluated([result, result])).toBe(1);

  expect(runs.run(run).state).toBe('succeeded');
});

test('a script that fails fails its step; too much is a failure, too', () => {
  const run = start([script('boom()')]);
  runs.evaluated(runs.run(run).steps[0].slot, { message: 'boom is not defined' });
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'script_failed' });
  expect(runs.run(run).output).toContain('boom is not defined');

  const large = runs.begin('flow');
  const value = JSON.stringify('x'.repeat(2 ** 18));
  runs.evaluated(runs.run(large).steps[0].slot, { value });
  expect(runs.run(large).reason).toBe('script_failed');
});

test('a cancelled run waits for no script', () => {
  const run = start([script('1')]);
  const { slot } = runs.run(run).steps[0];
  runs.cancel(run);

  expect(runs.run(run).state).toBe('cancelled');
  expect(partition.evaluated([{ run, step: slot, evaluation: 1, value: '1' }])).toBe(1);
});

test('a script decides a switch, and an optional switch that fails takes its default case', () => {
  const choice = {
    taskReferenceName: 'choice',
    type: 'SWITCH',
    evaluatorType: 'javascript',
    expression: '$.n > 1',
    decisionCases: { true: [{ taskReferenceName: 'yes', type: 'NOOP' }] },
    defaultCase: [{ taskReferenceName: 'other', type: 'NOOP' }],
  };
  const run = start([choice]);
  runs.evaluated(runs.run(run).steps[0].slot, { value: 'true' });
  expect(stateOf(run, 1)).toBe('succeeded');
  expect(stateOf(run, 2)).toBe('pending');

  runs.register('flow', { tasks: [{ ...choice, optional: true }] }, 2);
  const failed = runs.begin('flow');
  runs.evaluated(runs.run(failed).steps[0].slot, { message: 'no' });
  expect(stateOf(failed, 1)).toBe('pending');
  expect(stateOf(failed, 2)).toBe('succeeded');
});

test.each([
  ['[]', { result: null, resultList: [] }],
  ['[1,{"a":2}]', { result: 1, resultList: [1, { a: 2 }] }],
])('a query that gave %s has the first value and all of them', (value, output) => {
  const inputParameters = { queryExpression: '.n', n: '${workflow.input.n}' };
  const run = start([{ taskReferenceName: 'query', type: 'JSON_JQ_TRANSFORM', inputParameters }]);
  const [{ slot }] = runs.run(run).steps;

  const asked = partition.evaluation(slot);
  expect(asked).toMatchObject({ language: 'jq', source: '.n', input: '{"n":null}' });
  runs.evaluated(slot, { value });

  expect(JSON.parse(runs.run(run).output)).toEqual(output);
  isReplayed();
});

test('a query whose two outputs are too large together fails its step', () => {
  const inputParameters = { queryExpression: '.' };
  const run = start([{ taskReferenceName: 'query', type: 'JSON_JQ_TRANSFORM', inputParameters }]);
  const [{ slot }] = runs.run(run).steps;

  runs.evaluated(slot, { value: JSON.stringify(['x'.repeat(200_000)]) });

  expect(JSON.parse(runs.run(run).output)).toMatchObject({ code: 'script_failed' });
});
