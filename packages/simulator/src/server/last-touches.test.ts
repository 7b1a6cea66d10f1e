import { runIdText, type SessionId, type TaskNumber } from '@sluice/core';
import { TestRuns } from '@sluice/core/testing/runs/test-runs';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { beforeEach, expect, test } from 'vitest';
import { LastTouches } from './last-touches.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;
let parent: number;

beforeEach(() => {
  partition = new TestPartition({ finishedTasksMax: 100, arenaChunkBytes: 2 ** 16, tasksMax: 30 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 20 }).session;
  const one = { name: 'a', taskReferenceName: 'one' };
  runs.register('child', { tasks: [one] });
  const sub = {
    taskReferenceName: 'sub',
    type: 'SUB_WORKFLOW',
    subWorkflowParam: { name: 'child' },
  };
  runs.register('parent', { tasks: [sub] });
  parent = runs.begin('parent');
});

/** Fails the newest task that the worker holds. */
function fail(): void {
  const lease = partition.leasesOf(session).at(-1) as string;
  partition.report(session, { lease, kind: 'failed', payload: '{}', retryable: false });
}

function childOf(run: number): number {
  return runs.run(run).steps[0].child;
}

/** The newest record, of 100 for each batch, that touched the run. */
function touchOf(run: number): number {
  const touches = new LastTouches();
  partition.log().forEach((bytes, batch) => {
    touches.follow({ bytes, length: bytes.length, recordCount: 1 } as never, 100 * batch + 1);
  });
  const key = { submittedAt: 0, partition: 0, number: run as TaskNumber };
  return touches.ofId(runIdText(key)) ?? -1;
}

test('the end of a child touches the run that waits for it', () => {
  const before = touchOf(parent);

  fail();

  expect(touchOf(parent)).toBeGreaterThan(before);
});

test('the end of a child in whose place the step has started another one does not', () => {
  const first = childOf(parent);
  fail();
  runs.revive(parent, 'restart');
  expect(childOf(parent)).not.toBe(first);
  runs.revive(first, 'retry');
  const before = touchOf(parent);

  fail();
  expect(runs.run(first).state).toBe('failed');
  expect(runs.run(parent).state).toBe('running');

  expect(touchOf(parent)).toBe(before);
});
