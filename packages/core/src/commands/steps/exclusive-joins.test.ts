import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
});

const simple = (reference: string, more: object = {}) => ({
  name: 'a',
  taskReferenceName: reference,
  inputParameters: { from: reference },
  ...more,
});
const first = (joinOn: string[], more: object = {}) => ({
  taskReferenceName: 'first',
  type: 'EXCLUSIVE_JOIN',
  joinOn,
  ...more,
});
const fork = (...branches: object[]) => ({
  taskReferenceName: 'fork',
  type: 'FORK_JOIN',
  forkTasks: branches,
});
const choice = {
  taskReferenceName: 'choice',
  type: 'SWITCH',
  expression: 'k',
  inputParameters: { k: '${workflow.input.k}' },
  decisionCases: { x: [simple('by-x')], y: [simple('by-y')] },
};

/** Ends the task that a step holds. */
function finish(reference: string, output: unknown, kind: 'succeeded' | 'failed' = 'succeeded') {
  const held = partition.heldBy(session);
  const place = held.findIndex((number) => {
    const { input } = partition.task(number);
    return testUtf8.decode(Uint8Array.from(input ?? [])).includes(`"${reference}"`);
  });
  const lease = partition.leasesOf(session)[place];
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
}

function shown(number: number): object {
  const { state, output } = runs.run(number);
  return { state, output: JSON.parse(output || 'null') };
}

test.each(['x', 'y'])('behind a SWITCH it has the output of the case that was taken (%s)', (k) => {
  runs.register('flow', { tasks: [choice, first(['by-x', 'by-y'])] });

  const run = runs.begin('flow', { k });
  finish(`by-${k}`, { took: k });

  expect(shown(run)).toEqual({ state: 'succeeded', output: { took: k } });
});

test('without a case it has the output of its default, or none', () => {
  const defaultExclusiveJoinTask = ['before'];
  const names = ['by-x', 'by-y'];
  runs.register('flow', {
    tasks: [simple('before'), choice, first(names, { defaultExclusiveJoinTask })],
  });
  runs.register('none', { tasks: [choice, first(names)] });

  const run = runs.begin('flow', { k: 'z' });
  finish('before', { took: 'default' });

  expect(shown(run)).toEqual({ state: 'succeeded', output: { took: 'default' } });
  expect(shown(runs.begin('none', { k: 'z' }))).toEqual({ state: 'succeeded', output: null });
});

test.each([[['left', 'right']], [[]]])(
  'behind a fork it goes on with the first branch, and the run ends after the others',
  (joinOn) => {
    const next = simple('next', { inputParameters: { from: 'next', got: '${first.output.n}' } });
    runs.register('flow', {
      tasks: [fork([simple('left')], [simple('right')]), first(joinOn), next],
    });

    const run = runs.begin('flow');
    finish('right', { n: 2 });
    finish('next', { done: true });
    expect(runs.run(run).state).toBe('running');
    finish('left', { n: 1 });

    expect(shown(run)).toEqual({ state: 'succeeded', output: { done: true } });
    expect(runs.run(run).steps.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  },
);

test('of two branches that ended while the run was paused, the order of joinOn decides', () => {
  runs.register('flow', {
    tasks: [fork([simple('left')], [simple('right')]), first(['right', 'left'])],
  });

  const run = runs.begin('flow');
  runs.pause(run, true);
  finish('left', { n: 1 });
  finish('right', { n: 2 });
  partition.restart();
  runs.pause(run, false);

  expect(shown(run)).toEqual({ state: 'succeeded', output: { n: 2 } });
});

test('an optional step that failed counts as over, and shows', () => {
  runs.register('flow', {
    tasks: [fork([simple('left', { optional: true })], [simple('right')]), first([])],
  });

  const run = runs.begin('flow');
  finish('left', {}, 'failed');
  finish('right', { n: 2 });

  expect(shown(run)).toEqual({ state: 'succeeded', output: null });
  expect(runs.run(run).steps.map(({ state }) => state)).toEqual([
    'succeeded',
    'completed_with_errors',
    'succeeded',
    'completed_with_errors',
  ]);
});

test('a branch that fails before the others arrive fails the run', () => {
  runs.register('flow', { tasks: [fork([simple('left')], [simple('right')]), first([])] });

  const run = runs.begin('flow');
  finish('left', {}, 'failed');
  finish('right', { n: 2 });

  expect(runs.run(run).state).toBe('failed');
});

test.each([
  [[first([])], '/tasks/0/joinOn', 'missing_field'],
  [[simple('one'), first(['two'])], '/tasks/1/joinOn/0', 'join_member_unknown'],
  [[simple('one'), first(['first'])], '/tasks/1/joinOn/0', 'join_member_unknown'],
  [[first(['one']), simple('one')], '/tasks/0/joinOn/0', 'join_member_unknown'],
  [
    [simple('one'), first(['one'], { defaultExclusiveJoinTask: ['two'] })],
    '/tasks/1/defaultExclusiveJoinTask/0',
    'join_member_unknown',
  ],
  [[simple('one'), first(['one'], { joinOn: 'one' })], '/tasks/1/joinOn', 'bad_field'],
  [[fork([simple('one')]), first(['two'])], '/tasks/1/joinOn/0', 'join_member_unknown'],
  [
    [
      {
        taskReferenceName: 'loop',
        type: 'DO_WHILE',
        items: [1],
        loopOver: [fork([simple('one')], [simple('two')]), first([])],
      },
    ],
    '/tasks/0/loopOver/1',
    'open_branch',
  ],
])('a join that cannot work is refused (%#)', (tasks, path, code) => {
  const { problems } = compileDefinition({ tasks }, testUtf8);

  expect(problems).toMatchObject([{ path, code }]);
});

test('it makes its output itself: a rerun gives it no input, and a call no output', () => {
  runs.register('flow', { tasks: [choice, first(['by-x', 'by-y'])] });
  const run = runs.begin('flow', { k: 'x' });
  finish('by-x', 1);

  expect(runs.revive(run, 'rerun', 'first', { any: 1 }).rejection).toBe('input_not_used');
  expect(runs.run(run).state).toBe('succeeded');
});
