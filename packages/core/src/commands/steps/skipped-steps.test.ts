/** Steps that are skipped before the run reaches them. */
import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({ finishedTasksMax: 20 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
});

const simple = (taskReferenceName: string, inputParameters: object = {}) => ({
  name: 'a',
  taskReferenceName,
  inputParameters,
});
const noop = (taskReferenceName: string) => ({ taskReferenceName, type: 'NOOP' });

function begin(tasks: readonly object[]): number {
  expect(runs.register('flow', { tasks: [simple('first'), ...tasks] })).not.toHaveProperty(
    'rejection',
  );
  return runs.begin('flow');
}

function finish(payload = '{}'): void {
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload });
}

function statesOf(run: number): string[] {
  return runs.run(run).steps.map(({ state }) => state);
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a step is passed over when the run reaches it, and not before', () => {
  const run = begin([simple('second'), simple('third', { x: '${second.output}' })]);

  expect(runs.end(run, 'second', 'skip').rejection).toBeUndefined();
  expect(runs.end(run, 'second', 'skip').rejection).toBeUndefined();
  expect(runs.run(run).steps[1]).toMatchObject({ state: 'pending', reason: 'skipped_by_call' });
  isSound();
  partition.snapshot();
  const leases = partition.leasesOf(session);
  partition.restart(60_000, { fromSnapshot: true });
  session = partition.resume(session, leases, { types: ['a'], slots: 10 }).session;
  finish();

  expect(statesOf(run)).toEqual(['succeeded', 'skipped', 'running']);
  finish('{"n":1}');
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"n":1}' });
  isSound();
});

test('a step that is due in a paused run is passed over when the run is resumed', () => {
  const run = begin([simple('second')]);
  runs.pause(run, true);
  finish();

  expect(runs.end(run, 'second', 'skip').rejection).toBeUndefined();
  runs.pause(run, false);

  expect(statesOf(run)).toEqual(['succeeded', 'skipped']);
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test('a SWITCH takes its default case, a loop runs no iteration, a fork has no branches', () => {
  const run = begin([
    {
      taskReferenceName: 'switch',
      type: 'SWITCH',
      evaluatorType: 'value-param',
      expression: 'x',
      inputParameters: { x: 'a' },
      decisionCases: { a: [noop('in-case')] },
      defaultCase: [noop('in-default')],
    },
    { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2], loopOver: [noop('body')] },
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'a', forkTaskInputs: [1, 2] },
    },
    { taskReferenceName: 'join', type: 'JOIN' },
    {
      taskReferenceName: 'stop',
      type: 'TERMINATE',
      inputParameters: { terminationStatus: 'FAILED' },
    },
  ]);
  for (const reference of ['switch', 'loop', 'fork', 'stop']) {
    expect(runs.end(run, reference, 'skip').rejection, reference).toBeUndefined();
  }

  finish();

  const { steps, state } = runs.run(run);
  expect(state).toBe('succeeded');
  const skipped = steps.filter((step) => step.state === 'skipped').length;
  expect(skipped).toBe(4);
  expect(steps.map(({ state }) => state)).toContain('pending');
  isSound();
});

test('an iteration that comes later has its own steps', () => {
  const loop = { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2] };
  const run = begin([{ ...loop, loopOver: [simple('one'), simple('two')] }]);
  expect(runs.end(run, 'two', 'skip').rejection).toBe('step_not_found');
  finish();
  expect(runs.end(run, 'two', 'skip').rejection).toBeUndefined();
  expect(runs.end(run, 'loop', 'skip').rejection).toBe('step_not_waiting');

  finish();
  finish();
  finish();

  const two = runs.run(run).steps.filter(({ node }) => node === 3);
  expect(two.map(({ suffix, state }) => `${suffix} ${state}`).sort()).toEqual([
    '__1 skipped',
    '__2 succeeded',
  ]);
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test('what has begun or has ended is not skipped, nor the begin of a fork', () => {
  const forkTasks = [[noop('left')], [noop('right')]];
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks };
  const run = begin([fork, { taskReferenceName: 'join', type: 'JOIN', joinOn: [] }]);

  expect(runs.end(run, 'first', 'skip').rejection).toBe('step_not_waiting');
  expect(runs.end(run, 'fork', 'skip').rejection).toBe('step_not_waiting');
  expect(runs.end(run, 'nothing', 'skip').rejection).toBe('step_not_found');
  expect(runs.end(run, 'left', 'skip').rejection).toBeUndefined();
  finish();

  expect(runs.run(run).state).toBe('succeeded');
  expect(runs.end(run, 'left', 'skip').rejection).toBe('run_finished');
  isSound();
});

test('a restart forgets what was to be skipped', () => {
  const run = begin([simple('second')]);
  runs.end(run, 'second', 'skip');
  finish();
  expect(runs.run(run).state).toBe('succeeded');

  runs.revive(run, 'restart');
  finish();

  expect(statesOf(run)).toEqual(['succeeded', 'running']);
  isSound();
});

test('a retry keeps what is to be skipped, also behind a failure that was allowed', () => {
  const run = begin([{ ...simple('second'), permissive: true }, simple('third')]);
  finish();
  runs.end(run, 'third', 'skip');
  runs.pause(run, true);
  partition.report(session, {
    lease: partition.leasesOf(session)[0],
    kind: 'failed',
    payload: '{}',
    retryable: false,
  });
  runs.cancel(run);
  expect(runs.run(run).state).toBe('cancelled');

  runs.revive(run, 'retry');
  finish();

  expect(statesOf(run)).toEqual(['succeeded', 'succeeded', 'skipped']);
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});
