import { beforeEach, expect, test } from 'vitest';
import type { SessionId, TaskNumber } from '../../base/ids.ts';
import type { PartitionLimits } from '../../state/state.ts';
import { describeState } from '../../testing/describe-state.ts';
import { describeRuns } from '../../testing/runs/describe-runs.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { PutTaskType } from '../queues/put-task-type.ts';
import type { RetryTasks } from '../tasks/retry-tasks.ts';

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => {
  begin();
});

function begin(limits: Partial<PartitionLimits> = {}): void {
  partition = new TestPartition(limits);
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a', 'b', 'c'], slots: 10 }).session as SessionId;
}

const simple = (reference: string, inputParameters: object = {}, more: object = {}) => ({
  name: reference.slice(0, 1),
  taskReferenceName: reference,
  type: 'SIMPLE',
  inputParameters,
  ...more,
});

function define(...tasks: object[]): object {
  return { name: 'flow', tasks };
}

/** Ends the oldest task that the worker holds. */
function finish(output: unknown = {}, kind: 'succeeded' | 'failed' = 'succeeded'): string {
  const [lease] = partition.leasesOf(session);
  const [number] = partition.heldBy(session);
  const { input } = partition.task(number);
  const payload = JSON.stringify(output);
  partition.report(session, { lease, kind, payload, retryable: false });
  return Buffer.from(input).toString();
}

function start(definition: object, input: unknown = {}): number {
  expect(runs.register('flow', definition).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

function same(): void {
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('three steps run one after the other, each with what the ones before gave', () => {
  const run = start(
    {
      ...define(
        simple('a1', { url: '${workflow.input.url}' }),
        simple('b1', { from: '${a1.output.path}', text: 'at ${a1.output.path}!' }),
        simple('c1', { all: '${b1.output}' }),
      ),
      outputParameters: { result: '${c1.output.n}', missing: '${a1.output.nothing}' },
    },
    { url: 'x' },
  );

  expect(JSON.parse(finish({ path: '/p' }))).toEqual({ url: 'x' });
  expect(JSON.parse(finish({ b: [1, 2] }))).toEqual({ from: '/p', text: 'at /p!' });
  expect(JSON.parse(finish({ n: 7 }))).toEqual({ all: { b: [1, 2] } });

  const { state, output, steps } = runs.run(run);
  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toEqual({ result: 7, missing: null });
  expect(steps.map((step) => step.state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(partition.outputs.endedRuns).toHaveLength(1);
  same();
});

test('a text with $${ is filled as the same text with ${', () => {
  start(define(simple('a1', { text: '$${workflow.input.n} is ${workflow.input.n}' })), { n: 7 });

  expect(JSON.parse(finish())).toEqual({ text: '${workflow.input.n} is 7' });
});

test('a step takes what its registered type says, after what it says itself', () => {
  partition.operate<PutTaskType>({
    type: 'put_task_type',
    taskType: 'a',
    definition: { priority: 7, retry: { maxAttempts: 9 }, tags: { team: 'b' } },
  });
  const run = start(define(simple('a1', {}, { retryCount: 1 })));
  const slot = partition.state.tasks.find(runs.run(run).steps[0].task as TaskNumber);
  const { texts, tasks } = partition.state;

  expect(texts.retry.at(tasks.retry[slot])).toMatchObject({ maxAttempts: 2 });
  expect(texts.tags.at(tasks.tags[slot])).toMatchObject({ team: 'b' });
});

test('a join waits for every branch and shows their outputs', () => {
  const run = start(
    define(
      {
        taskReferenceName: 'fork',
        type: 'FORK_JOIN',
        forkTasks: [[simple('a1'), simple('a2')], [simple('b1')]],
      },
      { taskReferenceName: 'join', type: 'JOIN' },
      simple('c1', { a: '${join.output.a2.x}', all: '${join.output}' }),
    ),
  );
  finish({ x: 1 });
  finish({ x: 2 });
  expect(runs.run(run).steps[4].state).toBe('pending');
  finish({ x: 3 });

  expect(JSON.parse(finish())).toEqual({ a: 3, all: { a2: { x: 3 }, b1: { x: 2 } } });
  expect(runs.run(run).state).toBe('succeeded');
  same();
});

test('a switch takes one case, and a join does not wait for the others', () => {
  const choice = {
    taskReferenceName: 'choice',
    type: 'SWITCH',
    evaluatorType: 'value-param',
    expression: 'size',
    inputParameters: { size: '${workflow.input.size}' },
    decisionCases: { big: [simple('a1')], 3: [simple('b1')], none: [] },
    defaultCase: [simple('c1')],
  };
  const definition = define(
    { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: [[choice]] },
    { taskReferenceName: 'join', type: 'JOIN', joinOn: ['choice'] },
    simple('c2'),
  );
  const taken = (input: unknown): string[] => {
    const run = start(definition, input);
    const { program } = runs.run(run);
    expect(program).toBe('flow/1');
    const types: string[] = [];
    while (runs.run(run).state === 'running') {
      types.push(partition.task(partition.heldBy(session)[0]).type);
      finish();
    }
    return types;
  };

  expect(taken({ size: 'big' })).toEqual(['a', 'c']);
  expect(taken({ size: 3 })).toEqual(['b', 'c']);
  expect(taken({ size: 'none' })).toEqual(['c']);
  expect(taken({})).toEqual(['c', 'c']);
  same();
});

test('a failure stops the run: what nobody holds ends, what runs is asked to stop', () => {
  const run = start(
    define(
      {
        taskReferenceName: 'fork',
        type: 'FORK_JOIN',
        forkTasks: [[simple('a1')], [simple('b1')], [simple('c1', {}, { startDelay: 60 })]],
      },
      { taskReferenceName: 'join', type: 'JOIN' },
    ),
  );
  finish('boom', 'failed');

  expect(runs.run(run).state).toBe('stopping');
  expect(partition.cancels).toHaveLength(1);
  expect(runs.run(run).steps.map(({ state }) => state)).toEqual([
    'succeeded',
    'failed',
    'stopping',
    'cancelled',
    'pending',
  ]);
  finish({ late: true });
  const { state, reason, output } = runs.run(run);
  expect([state, reason]).toEqual(['failed', 'step_failed']);
  expect(JSON.parse(output)).toMatchObject({ code: 'step_failed', step: 'a1' });
  same();
});

test('an optional step may fail, a permissive one fails the run at its end', () => {
  const optional = start(define(simple('a1', {}, { optional: true }), simple('b1')));
  finish('no', 'failed');
  expect(runs.run(optional).steps[0].state).toBe('completed_with_errors');
  finish({ ok: true });
  expect(runs.run(optional).state).toBe('succeeded');

  runs.register('flow', define(simple('a1', {}, { permissive: true }), simple('b1')), 2);
  const permissive = runs.begin('flow');
  finish('no', 'failed');
  expect(runs.run(permissive).state).toBe('running');
  finish();
  expect(runs.run(permissive).state).toBe('failed');
  same();
});

test('variables are merged, and TERMINATE ends the run with its output', () => {
  const run = start({
    ...define(
      {
        taskReferenceName: 'set',
        type: 'SET_VARIABLE',
        inputParameters: { a: 1, b: '${workflow.input}' },
      },
      { taskReferenceName: 'again', type: 'SET_VARIABLE', inputParameters: { b: 2 } },
      {
        taskReferenceName: 'end',
        type: 'TERMINATE',
        inputParameters: {
          terminationStatus: 'COMPLETED',
          workflowOutput: { variables: '${workflow.variables}' },
        },
      },
    ),
    variables: { start: true },
  });

  const { state, output } = runs.run(run);
  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toEqual({ variables: { start: true, a: 1, b: 2 } });
  same();
});

test('a cancelled run ends when its tasks have stopped', () => {
  const run = start(define(simple('a1'), simple('b1')));
  runs.cancel(run);
  expect(runs.run(run).state).toBe('stopping');
  finish();

  expect(runs.run(run)).toMatchObject({ state: 'cancelled', reason: 'cancelled' });
  expect(runs.cancel(run).rejection).toBeUndefined();
});

test('a value that is too large fails its step and nothing else', () => {
  begin({ payloadBytesMax: 2 ** 22, arenaChunkBytes: 2 ** 20 });
  const run = start(define(simple('a1'), simple('b1', { x: '${a1.output}', y: '${a1.output}' })));
  finish('x'.repeat(2 ** 17));

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'value_too_large' });
});

test('ended runs leave memory, oldest first, with their tasks', () => {
  begin({ finishedTasksMax: 3 });
  for (let n = 0; n < 10; n++) {
    start(define(simple('a1'), simple('b1')));
    finish();
    finish();
  }
  partition.submit({ type: 'a' });

  expect(partition.state.runs.table.count).toBeLessThanOrEqual(2);
  expect(partition.state.runs.steps.inUse).toBeLessThanOrEqual(4);
  same();
});

test('the ended task of a step is not retried by itself', () => {
  start(define(simple('a1')));
  const [number] = partition.heldBy(session);
  const id = partition.id(number);
  finish({ message: 'no' }, 'failed');

  const retry = { type: 'retry_tasks', ids: [id] } as const;
  const { outcomes } = partition.operate<RetryTasks>(retry);

  expect(outcomes).toMatchObject([{ rejection: 'task_of_run' }]);
});

test('with full memory, runs that are under way go on and end', () => {
  begin({ tasksMax: 20, finishedTasksMax: 4, payloadBytesMax: 3000 });
  const run = start(define(simple('a1'), simple('b1'), simple('c1')));
  const others = Array.from({ length: 30 }, () => runs.start('flow'));
  expect(others.some(({ rejection }) => rejection === 'too_many_tasks')).toBe(true);
  while (partition.submit({ type: 'unknown' }).rejection === undefined);

  for (let n = 0; n < 200 && partition.heldBy(session).length > 0; n++) {
    finish({ x: 'y'.repeat(20) });
    partition.now += 100;
    partition.advance();
  }

  const states = describeRuns(partition.state).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['succeeded']));
  expect(() => runs.run(run)).toThrow('not in memory');
  same();
});

test('a definition that came with a run goes with its last run', () => {
  begin({ finishedTasksMax: 0 });
  const definition = { text: JSON.stringify(define(simple('a1'))), hash: 'h' };
  const first = runs.begin('inline', {}, { definition });
  runs.begin('inline', {}, { definition });
  expect(runs.run(first).program).toBe('inline/0');
  expect(partition.state.programs.count).toBe(1);
  finish();
  finish();
  partition.submit({ type: 'a' });

  expect(partition.state.programs.count).toBe(0);
  same();
});

test('a version without runs is replaced, and its place is used again', () => {
  const reply = (...tasks: object[]) => runs.register('flow', define(...tasks));

  expect(reply(simple('a1'))).toEqual({ existed: false, changed: true });
  expect(reply(simple('b1'))).toEqual({ existed: true, changed: true });
  expect(reply(simple('b1'))).toEqual({ existed: true, changed: false });
  expect(reply(simple('c1'))).toEqual({ existed: true, changed: true });

  expect(partition.state.programs.count).toBe(1);
  runs.begin('flow');
  expect(partition.heldBy(session)).toHaveLength(1);
  expect(reply(simple('a1')).rejection).toBe('version_in_use');
  same();
});
