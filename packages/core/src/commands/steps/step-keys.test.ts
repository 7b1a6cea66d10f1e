import { beforeEach, expect, test } from 'vitest';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { OperateStep, OperateStepReply } from './operate-step.ts';

const KEY = 77;

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
});

function start(tasks: readonly object[]): number {
  expect(runs.register('flow', { tasks }).rejection).toBeUndefined();
  return runs.begin('flow');
}

function end(run: number, reference: string, more: Partial<OperateStep> = {}): OperateStepReply {
  return partition.operate<OperateStep>({
    type: 'operate_step',
    id: runs.id(run),
    reference,
    operation: 'complete',
    payload: testUtf8.encode('{"ok":true}'),
    message: '',
    key: KEY,
    ...more,
  });
}

const human = (taskReferenceName: string) => ({ taskReferenceName, type: 'HUMAN' });
const LOOP = {
  taskReferenceName: 'loop',
  type: 'DO_WHILE',
  items: [1, 2, 3],
  loopOver: [human('ask')],
};

test('the same call again changes nothing, also after a restart', () => {
  const run = start([human('ask'), human('next')]);
  expect(end(run, 'ask').rejection).toBeUndefined();
  const before = describeState(partition.state);

  expect(end(run, 'ask').rejection).toBeUndefined();
  partition.snapshot();
  partition.restart(60_000, { fromSnapshot: true });
  expect(end(run, 'ask').rejection).toBeUndefined();
  expect(describeState(partition.state)).toMatchObject({ runs: before.runs });
});

test('another call, or one without a key, is refused', () => {
  const run = start([human('ask'), human('next')]);
  end(run, 'ask');

  expect(end(run, 'ask', { key: KEY + 1 }).rejection).toBe('step_not_waiting');
  expect(end(run, 'ask', { key: 0 }).rejection).toBe('step_not_waiting');
});

test('a call that is sent again does not end the next iteration of a loop', () => {
  const run = start([LOOP]);
  end(run, 'ask');

  expect(end(run, 'ask').rejection).toBeUndefined();
  const asked = runs.run(run).steps.filter(({ suffix }) => suffix !== '');
  expect(asked.map(({ state }) => state)).toEqual(['running', 'succeeded']);
  expect(end(run, 'ask', { key: KEY + 1 }).rejection).toBeUndefined();
  expect(end(run, 'ask').rejection).toBeUndefined();
  const after = runs.run(run).steps.filter(({ suffix }) => suffix !== '');
  expect(after.map(({ state }) => state)).toEqual(['running', 'succeeded', 'succeeded']);
});

test('the task of a step keeps the key, and the run that failed by it is not brought back', () => {
  const run = start([{ name: 't', taskReferenceName: 'only' }]);
  const fail = { operation: 'fail' as const, payload: testUtf8.encode('{"message":"no"}') };
  expect(end(run, 'only', fail).rejection).toBeUndefined();
  expect(runs.run(run).state).toBe('failed');

  expect(end(run, 'only', fail).rejection).toBeUndefined();
  expect(runs.run(run).state).toBe('failed');
  expect(end(run, 'only', { ...fail, key: 5 }).rejection).toBe('run_finished');
});
