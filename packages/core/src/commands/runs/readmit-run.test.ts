import { beforeEach, expect, test } from 'vitest';
import { describeState } from '../../testing/describe-state.ts';
import { runProblems } from '../../testing/runs/run-problems.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { ReadmitRun, ReadmitRunReply } from './readmit-run.ts';

const DEFINITION = {
  tasks: [{ name: 't', taskReferenceName: 'only', inputParameters: { k: '${workflow.input.k}' } }],
  variables: { n: 1 },
  timeoutSeconds: 60,
};

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({ tasksMax: 8, finishedTasksMax: 0 });
  runs = new TestRuns(partition);
  runs.register('flow', DEFINITION);
});

function readmit(id: string, more: Partial<ReadmitRun> = {}): ReadmitRunReply {
  return partition.operate<ReadmitRun>({
    type: 'readmit_run',
    id,
    workflow: 'flow',
    version: 1,
    priority: 3,
    correlation: 'order',
    tags: '',
    input: new TextEncoder().encode('{"k":7}'),
    ...more,
  });
}

/** The id of a run that ended and left memory. */
function forgotten(): string {
  const run = runs.begin('flow', { k: 7 });
  const id = runs.id(run);
  runs.cancel(run);
  partition.advance();
  expect(partition.state.runs.table.count).toBe(0);
  return id;
}

test('a run that left memory begins anew under its id, with its input', () => {
  const id = forgotten();
  partition.now += 5000;

  const { slot } = readmit(id);

  const number = partition.state.runs.table.number[slot];
  expect(runs.id(number)).toBe(id);
  expect(runs.run(number)).toMatchObject({
    state: 'running',
    correlation: 'order',
    priority: 3,
    input: '{"k":7}',
    variables: '{"n":1}',
    until: partition.now + 60_000,
  });
  const [step] = runs.run(number).steps;
  expect(partition.task(step.task)).toMatchObject({ state: 'queued' });
  expect(runProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
});

test('new runs and tasks get new numbers afterwards', () => {
  const id = forgotten();
  const next = partition.state.nextTask;
  readmit(id);

  expect(partition.state.nextTask).toBeGreaterThanOrEqual(next);
  expect(runs.begin('flow')).toBeGreaterThanOrEqual(next);
});

test('what cannot begin anew is refused', () => {
  const id = forgotten();

  expect(readmit('r_00000000000000000000').rejection).toBe('run_not_found');
  expect(readmit(runs.id(runs.begin('flow'))).rejection).toBe('run_not_found');
  expect(readmit(id, { version: 2 }).rejection).toBe('workflow_not_found');
  // A definition that came with the run.
  expect(readmit(id, { version: 0 }).rejection).toBe('workflow_not_found');
  expect(readmit(id, { workflow: 'other' }).rejection).toBe('workflow_not_found');
});

test('without room for its tasks it stays away', () => {
  const id = forgotten();
  for (let n = 0; n < 8; n++) runs.begin('flow');

  expect(readmit(id).rejection).toBe('too_many_tasks');
});

test('the run that started it is shown, and nobody waits for it', () => {
  const startedBy = { run: 4, startedAt: 1000, step: 'sub', relation: 1 };

  const { slot } = readmit(forgotten(), { startedBy });

  const number = partition.state.runs.table.number[slot];
  expect(runs.run(number)).toMatchObject({
    parent: 4,
    parentReference: 'sub',
    relation: 'sub_workflow',
    parentStep: 0,
  });
  expect(runProblems(partition.state)).toEqual([]);
});
