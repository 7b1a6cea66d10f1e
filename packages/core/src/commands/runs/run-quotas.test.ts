import { beforeEach, expect, test } from 'vitest';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

const QUOTAS = {
  tasksMax: 100,
  payloadBytesMax: 10_000,
  dedupeKeysMax: 100,
  taskTypesMax: 100,
  shapesMax: 100,
  sessionsMax: 100,
  schedulesMax: 100,
  runsMax: 2,
};

const ASK = { taskReferenceName: 'ask', type: 'HUMAN' };

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({ quotas: QUOTAS, finishedTasksMax: 100 });
  runs = new TestRuns(partition);
  runs.register('flow', { tasks: [ASK] });
});

const REFUSED = { rejection: 'quota_exceeded', quota: 'runsMax', slots: [] };

test('a namespace that has its runs is refused until one ends, and others are not', () => {
  const first = runs.begin('flow');
  runs.begin('flow');

  expect(runs.start('flow')).toMatchObject(REFUSED);
  partition.namespace = 'other';
  runs.register('flow', { tasks: [ASK] });
  expect(runs.start('flow').rejection).toBeUndefined();
  partition.namespace = 'default';
  runs.cancel(first);
  expect(runs.start('flow').rejection).toBeUndefined();
  expect(runs.start('flow')).toMatchObject(REFUSED);
});

test('the count is right after a restart, from the log and from a snapshot', () => {
  runs.begin('flow');
  runs.cancel(runs.begin('flow'));
  runs.begin('flow');

  partition.restart(60_000, { fromSnapshot: false });
  expect(runs.start('flow')).toMatchObject(REFUSED);
  partition.snapshot();
  partition.restart(60_000, { fromSnapshot: true });
  expect(partition.state.runs.openIn('default')).toBe(2);
  expect(runs.start('flow')).toMatchObject(REFUSED);
});

test('a run that ended does not go on over the quota', () => {
  const ended = runs.begin('flow');
  runs.cancel(ended);
  const others = [runs.begin('flow'), runs.begin('flow')];

  expect(runs.revive(ended, 'retry').rejection).toBe('quota_exceeded');
  runs.cancel(others[0]);
  expect(runs.revive(ended, 'retry').rejection).toBeUndefined();
  expect(partition.state.runs.openIn('default')).toBe(2);
});

test('a step that starts a run waits for room, and says so when it waited too long', () => {
  const inside = { name: 'inside', tasks: [ASK] };
  const subWorkflowParam = { name: 'inside', workflowDefinition: inside };
  runs.register('parent', {
    tasks: [{ taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam }],
  });
  const other = runs.begin('flow');
  const parent = runs.begin('parent');
  expect(runs.run(parent).steps).toMatchObject([{ state: 'due', child: 0 }]);
  runs.cancel(other);
  partition.now += 200;
  partition.advance();

  expect(runs.run(parent).steps).toMatchObject([{ state: 'running' }]);
  expect(partition.state.runs.openIn('default')).toBe(2);
  const second = runs.start('parent');
  expect(second).toMatchObject(REFUSED);
});
