/** Dynamic forks whose branches run workflows. */
import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { describeRuns, type RunDescription } from '../../testing/runs/describe-runs.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({ finishedTasksMax: 100, arenaChunkBytes: 2 ** 16 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['half'], slots: 50 }).session as SessionId;
  runs.register('child', {
    tasks: [
      { name: 'half', taskReferenceName: 'half', inputParameters: { n: '${workflow.input.n}' } },
    ],
    outputParameters: { half: '${half.output.n}', of: '${workflow.input.__index}' },
  });
});

const join = { taskReferenceName: 'join', type: 'JOIN' };

function startFork(inputParameters: object, more: object = {}): number {
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters, ...more };
  expect(runs.register('flow', { tasks: [fork, join] })).not.toHaveProperty('rejection');
  return runs.begin('flow');
}

function children(parent: number): RunDescription[] {
  return describeRuns(partition.state).filter((run) => run.parent === parent);
}

function endTasks(kind: 'succeeded' | 'failed' = 'succeeded', payload = '{"n":1}'): void {
  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind, payload, retryable: false });
  }
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

const overItems = { forkTaskWorkflow: 'child', forkTaskInputs: [{ n: 4 }, { n: 6 }] };

test('each item is the input of a run, and the join has their outputs', () => {
  const run = startFork(overItems);
  expect(children(run).map(({ input, relation }) => [input, relation])).toEqual([
    ['{"n":4,"__index":0}', 'sub_workflow'],
    ['{"n":6,"__index":1}', 'sub_workflow'],
  ]);
  expect(children(run).map(({ parentReference }) => parentReference)).toEqual([
    '_child_0',
    '_child_1',
  ]);
  const leases = partition.leasesOf(session);
  partition.restart(60_000);
  session = partition.resume(session, leases, { types: ['half'], slots: 50 }).session;

  endTasks();

  const output = { _child_0: { half: 1, of: 0 }, _child_1: { half: 1, of: 1 } };
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: JSON.stringify(output) });
  isSound();
});

test('a list has tasks and workflows side by side, of any version', () => {
  runs.register('child', { tasks: [{ taskReferenceName: 'new', type: 'NOOP' }] }, 2);
  const run = startFork(
    {
      steps: [
        { taskReferenceName: 'a', name: 'half' },
        {
          taskReferenceName: 'b',
          type: 'SUB_WORKFLOW',
          subWorkflowParam: { name: 'child', version: '1' },
          inputParameters: { n: 8 },
        },
        { taskReferenceName: 'c', type: 'SUB_WF', subWorkflowParam: { name: 'child' } },
      ],
    },
    { dynamicForkTasksParam: 'steps' },
  );
  expect(children(run).map(({ program, input }) => [program, input])).toEqual([
    ['child/1', '{"n":8}'],
    ['child/2', '{}'],
  ]);

  endTasks();

  const output = JSON.stringify({ a: { n: 1 }, b: { half: 1, of: null }, c: null });
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output });
  isSound();
});

test('a cancel reaches the runs of all branches', () => {
  const run = startFork(overItems);

  runs.cancel(run);
  endTasks();

  expect(children(run).map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
  expect(runs.run(run).state).toBe('cancelled');
  isSound();
});

test('a run that fails fails its branch, and a retry runs that branch again', () => {
  const run = startFork(overItems);
  const [first, second] = partition.leasesOf(session);
  partition.report(session, { lease: first, kind: 'succeeded', payload: '{"n":2}' });
  partition.report(session, {
    lease: second,
    kind: 'failed',
    payload: '{"message":"odd"}',
    retryable: false,
  });
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'child_failed' });
  expect(runs.run(run).output).toContain('odd');
  isSound();

  expect(runs.revive(run, 'retry')).not.toHaveProperty('rejection');
  expect(children(run).map(({ state }) => state)).toEqual(['succeeded', 'failed', 'running']);
  endTasks('succeeded', '{"n":3}');

  const output = { _child_0: { half: 2, of: 0 }, _child_1: { half: 3, of: 1 } };
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: JSON.stringify(output) });
  isSound();
});

test('a branch that may fail leaves its place empty', () => {
  const run = startFork(overItems, { optional: true });

  endTasks('failed', '{}');

  const output = JSON.stringify({ _child_0: null, _child_1: null });
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output });
  expect(runs.run(run).steps.at(-1)).toMatchObject({ state: 'completed_with_errors' });
});

test('a rerun gives one branch another input', () => {
  const run = startFork(overItems);
  endTasks();

  expect(runs.revive(run, 'rerun', '_child_1', 7)).toMatchObject({ rejection: 'input_not_object' });
  expect(runs.revive(run, 'rerun', '_child_1', { n: 70 })).not.toHaveProperty('rejection');

  expect(children(run).map(({ input }) => input)).toContain('{"n":70}');
  endTasks();
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test('a fork of workflows reserves no room for tasks', () => {
  const run = startFork({ forkTaskWorkflow: 'empty', forkTaskInputs: [1, 2, 3] });
  // There is no such workflow: every branch fails, and nothing stays promised.
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'workflow_not_found' });
  expect(partition.state.runs.promised).toBe(0);
  isSound();
});

test.each([
  [{ forkTaskWorkflow: 'a b' }, '/forkTaskWorkflow', 'bad_field'],
  [{ forkTaskWorkflow: 'a', forkTaskWorkflowVersion: 0 }, '/forkTaskWorkflowVersion', 'bad_field'],
  [{ forkTaskWorkflow: 'a', forkTaskType: 'SIMPLE' }, '/forkTaskType', 'bad_field'],
  [{ forkTaskType: 'SUB_WORKFLOW' }, '/forkTaskWorkflow', 'missing_field'],
  [{ forkTaskType: 'HTTP' }, '/forkTaskType', 'bad_field'],
])('%j is refused', (given, path, code) => {
  const inputParameters = { forkTaskInputs: [], ...given };
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters };
  const { problems } = compileDefinition({ tasks: [fork, join] }, testUtf8);
  expect(problems).toMatchObject([{ path: `/tasks/0/inputParameters${path}`, code }]);
});

test.each([
  [{ type: 'SUB_WORKFLOW', subWorkflowParam: {} }, 'name must be the name of a workflow'],
  [{ type: 'SUB_WORKFLOW', subWorkflowParam: { name: 'x', version: -1 } }, 'version must be'],
  [
    { type: 'SUB_WORKFLOW', subWorkflowParam: { name: 'x', workflowDefinition: {} } },
    'workflowDefinition is not supported',
  ],
  [{ type: 'HTTP', name: 'x' }, 'type must be SIMPLE or SUB_WORKFLOW'],
])('a branch %j fails the fork', (given, message) => {
  const steps = [{ taskReferenceName: 'a', ...given }];
  const run = startFork({ steps }, { dynamicForkTasksParam: 'steps' });
  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
  expect(runs.run(run).output).toContain(message);
});
