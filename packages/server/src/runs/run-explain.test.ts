import type { PartitionReader, SessionId, TaskNumber } from '@sluice/core';
import { TestRuns } from '@sluice/core/testing/runs/test-runs';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { explainRun, type RunExplanation } from './run-explain.ts';

/** For what a test asks of it: runs without tasks that wait. */
const READER = {
  explain: () => ({ running: true, reasons: [] }),
  waitsForRoom: () => false,
} as unknown as PartitionReader;

const simple = (reference: string) => ({ name: 'a', taskReferenceName: reference });

interface World {
  readonly partition: TestPartition;
  readonly session: SessionId;
  readonly explained: (reader?: PartitionReader) => RunExplanation;
}

/** A run of these steps in a memory for four tasks. */
function begin(tasks: readonly object[]): World {
  const partition = new TestPartition({ tasksMax: 4, finishedTasksMax: 1 });
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['a'], slots: 10 });
  expect(runs.register('flow', { tasks }).rejection).toBeUndefined();
  const number = runs.begin('flow');
  const { state } = partition;
  const slot = state.runs.table.find(number as TaskNumber);
  return {
    partition,
    session: session as SessionId,
    explained: (reader = READER) => explainRun(state, reader, slot),
  };
}

function finish({ partition, session }: World): void {
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
}

test('a loop whose next iteration does not fit waits for room, even if one task would', () => {
  const loop = {
    taskReferenceName: 'loop',
    type: 'DO_WHILE',
    items: [1, 2],
    loopOver: [simple('one'), simple('two')],
  };
  const world = begin([loop]);
  world.partition.submit({});
  finish(world);
  finish(world);

  expect(world.partition.state.tasks.count).toBe(3);
  expect(world.explained()).toMatchObject({
    running: true,
    reasons: [
      {
        code: 'no_room',
        step: 'loop',
        message: expect.stringContaining('cancel runs that are not needed'),
      },
    ],
  });
});

test('a loop that fits is not said to wait for room', () => {
  const ask = { taskReferenceName: 'ask', type: 'HUMAN' };
  const world = begin([
    { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1], loopOver: [ask] },
  ]);

  expect(world.explained().reasons).toMatchObject([{ code: 'call', step: 'ask__1' }]);
});

test('a step whose run does not fit waits for room', () => {
  const workflowDefinition = { tasks: ['one', 'two', 'three', 'four'].map(simple) };
  const subWorkflowParam = { name: 'inside', workflowDefinition };
  const rest = { taskReferenceName: 'rest', type: 'WAIT' };
  const sub = { taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam };
  const { partition, explained } = begin([rest, sub]);
  partition.submit({});
  new TestRuns(partition).end(1, 'rest');

  expect(explained({ ...READER, waitsForRoom: () => true }).reasons).toMatchObject([
    { code: 'no_room', step: 'sub' },
  ]);
});
