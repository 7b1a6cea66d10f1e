import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { describeRuns, type RunDescription } from '../../testing/runs/describe-runs.ts';
import { runProblems } from '../../testing/runs/run-problems.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';

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
  runs.register('rescue', { tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }] });
}

const one = { name: 'a', taskReferenceName: 'one' };

function begin(definition: object, input: unknown = { order: 7 }): number {
  const whole = { tasks: [one], failureWorkflow: 'rescue', ...definition };
  expect(runs.register('flow', whole).rejection).toBeUndefined();
  return runs.begin('flow', input, { correlationId: 'c', priority: 2 });
}

function end(kind: 'succeeded' | 'failed' = 'failed'): void {
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind, payload: '{}', retryable: false });
}

function rescues(): RunDescription[] {
  return describeRuns(partition.state).filter(({ relation }) => relation === 'failure_workflow');
}

function isSound(): void {
  expect(runProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a run that failed starts its failure workflow, which knows what happened', () => {
  const run = begin({});
  const task = runs.run(run).steps[0].task;

  end();

  const [rescue] = rescues();
  const shown = { parent: run, parentReference: '', depth: 1, correlation: 'c', priority: 2 };
  expect(rescue).toMatchObject({ ...shown, state: 'running' });
  expect(JSON.parse(rescue.input)).toEqual({
    order: 7,
    workflowId: runs.id(run),
    reason: 'step "one" did not succeed',
    failureStatus: 'FAILED',
    failureTaskId: partition.id(task),
    failureStep: 'one',
  });
  const failureRunId = runs.id(rescue.number);
  expect(JSON.parse(runs.run(run).output)).toMatchObject({ code: 'step_failed', failureRunId });
  isSound();
});

test('a run that timed out or was terminated starts it, one that was cancelled does not', () => {
  const late = begin({ tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }], timeoutSeconds: 1 });
  partition.now += 1000;
  partition.advance();
  expect(runs.run(late).state).toBe('timed_out');
  expect(JSON.parse(rescues()[0].input)).toMatchObject({ failureStatus: 'TIMED_OUT' });

  const inputParameters = { terminationStatus: 'TERMINATED', terminationReason: 'enough' };
  const tasks = [{ taskReferenceName: 'end', type: 'TERMINATE', inputParameters }];
  runs.register('flow', { tasks, failureWorkflow: 'rescue' }, 2);
  runs.begin('flow');
  expect(JSON.parse(rescues()[1].input)).toMatchObject({
    failureStatus: 'TERMINATED',
    reason: 'enough',
    failureTaskId: null,
  });

  runs.register('flow', { tasks: [one], failureWorkflow: 'rescue' }, 3);
  const run = runs.begin('flow');
  runs.cancel(run);
  end('succeeded');
  expect(runs.run(run).state).toBe('cancelled');
  expect(rescues()).toHaveLength(2);
});

test('a run that succeeds starts nothing', () => {
  const run = begin({});

  end('succeeded');

  expect(runs.run(run).state).toBe('succeeded');
  expect(rescues()).toEqual([]);
});

test('a failure workflow that fails does not start its own', () => {
  runs.register('rescue', { tasks: [one], failureWorkflow: 'rescue' }, 2);
  begin({ failureWorkflow: 'rescue' });
  end();

  end();

  expect(rescues().map(({ state }) => state)).toEqual(['failed']);
  isSound();
});

test('which workflow and version may come from expressions', () => {
  const failureWorkflow = '${workflow.input.next}';
  begin({ failureWorkflow, failureWorkflowVersion: 1 }, { next: 'rescue' });
  end();
  expect(rescues()).toHaveLength(1);

  const run = runs.begin('flow', { next: 7 });
  end();
  expect(JSON.parse(runs.run(run).output).failureProblem).toMatch(/name must be the name/);
});

test('a failure workflow that is not there is named in the error of the run', () => {
  const run = begin({ failureWorkflow: 'none' }, [1]);

  end();

  const { failureProblem } = JSON.parse(runs.run(run).output);
  expect(failureProblem).toBe(
    'the failure workflow did not start: there is no workflow "none"; register it',
  );
  expect(runs.run(run).state).toBe('failed');
});

test('an input that is no object is a field, and one that is too large is left out', () => {
  use(new TestPartition({ arenaChunkBytes: 2 ** 20, payloadBytesMax: 2 ** 24 }));
  begin({}, [1]);
  end();
  expect(JSON.parse(rescues()[0].input)).toMatchObject({ input: [1], failureStep: 'one' });

  const run = runs.begin('flow', { text: 'x'.repeat(200_000) });
  end();
  expect(JSON.parse(rescues()[1].input).text).toBeUndefined();
  expect(JSON.parse(rescues()[1].input).workflowId).toBe(runs.id(run));
});

test('a run ends when there is room for its failure workflow, or after ten minutes', () => {
  use(new TestPartition({ tasksMax: 3, finishedTasksMax: 0 }));
  runs.register('rescue', { tasks: [one, { ...one, taskReferenceName: 'two' }] }, 2);
  const run = begin({});
  partition.submit({}, {});
  end();
  expect(runs.run(run).state).toBe('stopping');
  partition.now += 1000;
  partition.advance();
  expect(runs.run(run).state).toBe('stopping');
  isSound();

  partition.now += 10 * 60_000;
  partition.advance();

  expect(JSON.parse(runs.run(run).output).failureProblem).toMatch(/no room .* 10 minutes/);
  expect(runs.run(run).state).toBe('failed');
});

test('a failure workflow is checked with its definition', () => {
  const definition = { tasks: [one], failureWorkflow: 'a b', failureWorkflowVersion: 0 };

  const { problems } = compileDefinition(definition, testUtf8);

  expect(problems?.map(({ path, code }) => `${path} ${code}`)).toEqual([
    '/failureWorkflow bad_field',
    '/failureWorkflowVersion bad_field',
  ]);
});
