/** A run that goes on brings back the runs above it that failed because of it. */
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
  partition = new TestPartition({ finishedTasksMax: 100, arenaChunkBytes: 2 ** 16, tasksMax: 30 });
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 20 }).session as SessionId;
  runs.register('child', { tasks: [simple('one'), simple('two')] });
  runs.register('middle', { tasks: [sub('child')] });
});

const simple = (taskReferenceName: string) => ({ name: 'a', taskReferenceName });
const sub = (name: string, more: object = {}) => ({
  taskReferenceName: 'sub',
  type: 'SUB_WORKFLOW',
  subWorkflowParam: { name },
  ...more,
});

function begin(tasks: readonly object[]): number {
  expect(runs.register('parent', { tasks }).rejection).toBeUndefined();
  return runs.begin('parent');
}

/** Ends the newest task that the worker holds. */
function end(kind: 'succeeded' | 'failed', payload = '{}'): void {
  const lease = partition.leasesOf(session).at(-1) as string;
  partition.report(session, { lease, kind, payload, retryable: false });
}

function childOf(run: number): number {
  return runs.run(run).steps.find(({ child }) => child !== 0)?.child ?? 0;
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test.each(['retry', 'restart', 'rerun'] as const)(
  'a %s of a child lets its parents wait for it again, and its end reaches them once',
  (operation) => {
    const run = begin([sub('middle'), simple('after')]);
    const middle = childOf(run);
    const child = childOf(middle);
    end('succeeded');
    end('failed');
    expect([run, middle, child].map((each) => runs.run(each).state)).toEqual(
      Array(3).fill('failed'),
    );

    const reference = operation === 'rerun' ? 'two' : '';
    expect(runs.revive(child, operation, reference)).not.toHaveProperty('rejection');

    expect([run, middle, child].map((each) => runs.run(each).state)).toEqual(
      Array(3).fill('running'),
    );
    expect(runs.run(run).steps[0]).toMatchObject({ state: 'running', child: middle });
    isSound();
    partition.restart(60_000);
    session = partition.resume(session, partition.leasesOf(session), {
      types: ['a'],
      slots: 20,
    }).session;
    if (operation === 'restart') end('succeeded');
    end('succeeded', '{"n":1}');
    expect(runs.run(run).steps.map(({ state }) => state)).toEqual(['succeeded', 'running']);
    end('succeeded', '{"n":2}');
    expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"n":2}' });
    isSound();
  },
);

test('a child that fails again fails its parent again', () => {
  const run = begin([sub('child')]);
  const child = childOf(run);
  end('failed');

  runs.revive(child, 'retry');
  end('failed');

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'child_failed' });
  expect(runs.run(run).steps[0].child).toBe(child);
  isSound();
});

test('a step of a child that is completed or skipped brings its parent back, too', () => {
  const run = begin([sub('child')]);
  const child = childOf(run);
  end('failed');

  expect(runs.end(child, 'one', 'skip').rejection).toBeUndefined();
  end('succeeded', '{"n":2}');

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"n":2}' });
  isSound();
});

test('other branches of the parent that were stopped begin again', () => {
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN',
    forkTasks: [[simple('other')], [sub('child')]],
  };
  const run = begin([fork, { taskReferenceName: 'join', type: 'JOIN', joinOn: [] }]);
  const child = childOf(run);
  end('failed');
  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind: 'failed', payload: '{}', retryable: false });
  }
  expect(runs.run(run).state).toBe('failed');

  runs.revive(child, 'retry');
  expect(partition.leasesOf(session)).toHaveLength(2);
  for (let n = 0; n < 3; n++) end('succeeded', `${n}`);

  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test.each([
  ['that failed for another reason', false],
  ['that was retried itself meanwhile', true],
])('a parent %s stays as it is', (_, isRetried) => {
  const fork = {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN',
    forkTasks: [[sub('child')], [simple('other')]],
  };
  const join = { taskReferenceName: 'join', type: 'JOIN', joinOn: [] };
  const run = begin(isRetried ? [sub('child')] : [fork, join]);
  const child = childOf(run);
  const other = runs.run(run).steps.find(({ task }) => task !== 0)?.task ?? 0;
  const place = Math.max(0, partition.heldBy(session).indexOf(other));
  const [lease] = partition.leasesOf(session).splice(place, 1);
  partition.report(session, { lease, kind: 'failed', payload: '{}', retryable: false });
  if (!isRetried) end('failed');
  if (isRetried) runs.revive(run, 'retry');
  const before = runs.run(run);

  expect(runs.revive(child, 'retry')).not.toHaveProperty('rejection');

  expect(runs.run(child).state).toBe('running');
  expect(runs.run(run)).toEqual(before);
  isSound();
});

test('a child in an iteration that is over goes on alone', () => {
  const loop = {
    taskReferenceName: 'loop',
    type: 'DO_WHILE',
    items: [1, 2],
    loopOver: [sub('child', { optional: true })],
  };
  const run = begin([loop, sub('child', { taskReferenceName: 'last' })]);
  const child = childOf(run);
  end('failed');
  end('failed');
  end('failed');
  const before = runs.run(run);
  expect(before.state).toBe('failed');

  runs.revive(child, 'retry');

  expect(runs.run(run)).toEqual(before);
  expect(runs.run(child).state).toBe('running');
  isSound();
});
