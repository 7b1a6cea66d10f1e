import { expect, test } from 'vitest';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

/** Long lists and long chains, by commands that may do little. */

const BRANCHES = 300;
const ROOMY = { tasksMax: 4000, payloadBytesMax: 2 ** 30, arenaChunkBytes: 2 ** 20 };
/** To read a list takes some; many more would be a server that does nothing else. */
const ALARMS_MAX = 1000;
const LITTLE = { runUnits: 20, coldRunUnits: 20 };

const FORK = [
  {
    taskReferenceName: 'fork',
    type: 'FORK_JOIN_DYNAMIC',
    dynamicForkTasksParam: 'list',
    inputParameters: { list: '${workflow.input.list}' },
  },
  { taskReferenceName: 'join', type: 'JOIN' },
];
const LIST = Array.from({ length: BRANCHES }, (_, n) => {
  return { taskReferenceName: `b${n}`, name: 'a', inputParameters: { n } };
});

function world(limits = {}) {
  const partition = new TestPartition({ ...ROOMY, ...limits }, LITTLE);
  const runs = new TestRuns(partition);
  runs.register('flow', { tasks: FORK }, 1);
  return { partition, runs };
}

/** What the alarm does while runs have something to do. */
function proceed(partition: TestPartition): void {
  while (partition.state.runs.line.length > 0) partition.advance();
}

test('a list of tasks is read by several commands, and after a restart from its start', () => {
  const { partition, runs } = world();
  const run = runs.begin('flow', { list: LIST });
  expect(runs.run(run).steps.length).toBe(2);

  partition.restart();
  const again = new TestRuns(partition);
  proceed(partition);

  const { steps } = again.run(run);
  expect(steps.filter(({ state }) => state === 'running').length).toBe(BRANCHES);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
});

test('many lists are read at the same time', () => {
  const { partition, runs } = world();
  const started = Array.from({ length: 7 }, () => runs.begin('flow', { list: LIST }));

  proceed(partition);

  const sizes = started.map((run) => runs.run(run).steps.length);
  expect(sizes).toEqual(Array(7).fill(BRANCHES + 2));
});

test('lists of runs that were stopped do not keep others from being read in parts', () => {
  const { runs, partition } = world();
  for (let stopped = 0; stopped < 6; stopped++) {
    runs.cancel(runs.begin('flow', { list: LIST }));
    proceed(partition);
  }

  const run = runs.begin('flow', { list: LIST });

  expect(runs.run(run).steps.length).toBe(2);
  proceed(partition);
  expect(runs.run(run).steps.length).toBe(BRANCHES + 2);
});

test('a bad branch far back in the list fails the run', () => {
  const { partition, runs } = world();
  const run = runs.begin('flow', { list: [...LIST, { taskReferenceName: 'b7', name: 'a' }] });

  proceed(partition);

  expect(runs.run(run)).toMatchObject({ state: 'failed' });
  expect(runs.run(run).output).toContain(
    `list[${BRANCHES}]: the reference \\"b7\\" is used already`,
  );
});

test('the first commands of a process do little, and leave the rest to later ones', () => {
  const partition = new TestPartition(ROOMY, { coldRunUnits: 16 });
  const runs = new TestRuns(partition);
  const tasks = Array.from({ length: 100 }, (_, n) => {
    return { taskReferenceName: `s${n}`, type: 'NOOP' };
  });
  runs.register('chain', { tasks }, 1);

  const run = runs.begin('chain', {});

  const ended = () => runs.run(run).steps.filter(({ state }) => state === 'succeeded').length;
  expect(ended()).toBeLessThanOrEqual(16);
  proceed(partition);
  expect(runs.run(run).state).toBe('succeeded');
});

test('a list for whose branches memory has no room lets the alarm rest', () => {
  // Room for all branches of one fork, as long as there is nothing else.
  const { partition, runs } = world({ tasksMax: BRANCHES + BRANCHES / 2 });
  runs.begin('flow', { list: LIST });
  proceed(partition);
  const second = runs.begin('flow', { list: LIST });

  let commands = 0;
  while (partition.nextTimerAt <= partition.now && commands < ALARMS_MAX) {
    partition.advance();
    commands += 1;
  }

  expect(commands).toBeLessThan(ALARMS_MAX);
  expect(runs.run(second).steps.length).toBe(2);
});
