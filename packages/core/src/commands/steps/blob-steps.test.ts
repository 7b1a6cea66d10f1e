import { beforeEach, expect, test } from 'vitest';
import { NO_SLOT, type SessionId } from '../../base/ids.ts';
import { lookIntoBlobs } from '../../expressions/blob-questions.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';

const CONTENT = {
  items: [{ name: 'zero' }, { name: 'one' }, { name: 'two' }, { name: 'three' }],
  kind: 'big',
  n: 2,
  text: 'a "quoted" text',
};
const SHA = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;
let blobs: Map<string, string>;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a', 'b'], slots: 50 }).session as SessionId;
  blobs = new Map([[SHA, JSON.stringify(CONTENT)]]);
});

const simple = (taskReferenceName: string, inputParameters: object = {}, more: object = {}) => ({
  name: 'a',
  taskReferenceName,
  inputParameters,
  ...more,
});

/** Starts a run whose first step gave a blob. */
function startAfterBlob(tasks: readonly object[], more: object = {}): number {
  const definition = { tasks: [simple('big'), ...tasks], ...more };
  expect(runs.register('flow', definition).rejection).toBeUndefined();
  const run = runs.begin('flow');
  succeed(`@${SHA}`);
  return run;
}

/** Ends all tasks that are leased. */
function succeed(payload: string): void {
  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind: 'succeeded', payload });
  }
}

/** What the shell does: answers everything that is open. Returns the number of requests. */
function answer(): number {
  const open = partition.openEvaluations();
  const read = (sha256: string): Uint8Array | string =>
    blobs.has(sha256) ? testUtf8.encode(blobs.get(sha256) ?? '') : 'does not exist any more';
  partition.evaluated(
    open.map(({ run, step, evaluation, language, input }) => {
      const asked = { run, step, evaluation };
      expect(language).toBe('extract');
      const keys = JSON.parse(input) as string[];
      return { ...asked, values: lookIntoBlobs(keys, { read, utf8: testUtf8 }) };
    }),
  );
  return open.length;
}

function inputOf(run: number, place: number): unknown {
  const { slot } = runs.run(run).steps[place];
  const task = partition.state.runs.steps.link[slot] - 1;
  const { tasks, payloads } = partition.state;
  const start = payloads.startOf(tasks.input[task]);
  const bytes = payloads.bytesOf(tasks.input[task]);
  return JSON.parse(testUtf8.decode(bytes.subarray(start, start + tasks.inputLength[task])));
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a step gets values from inside of a blob, all with one evaluation', () => {
  const input = {
    name: '${big.output.items[3].name}',
    names: '${big.output.items[*].name}',
    count: '${big.output.items.length()}',
    last: '${big.output.items[-1]}',
    missing: '${big.output.no.such}',
    text: 'is ${big.output.text} of ${big.output.n}',
  };
  const run = startAfterBlob([simple('next', input)]);
  expect(runs.run(run).steps[1]).toMatchObject({ state: 'running', isEvaluating: true, task: 0 });
  isSound();

  expect(answer()).toBe(1);

  expect(inputOf(run, 1)).toEqual({
    name: 'three',
    names: ['zero', 'one', 'two', 'three'],
    count: 4,
    last: { name: 'three' },
    missing: null,
    text: 'is a "quoted" text of 2',
  });
  expect(partition.openEvaluations()).toEqual([]);
  isSound();
});

test('what was asked before a restart is asked again, and a late answer is dropped', () => {
  const run = startAfterBlob([simple('next', { name: '${big.output.items[3].name}' })]);
  const [before] = partition.openEvaluations();
  partition.restart(1);
  session = partition.attach({ types: ['a', 'b'], slots: 50 }).session as SessionId;

  expect(partition.openEvaluations()).toEqual([before]);
  answer();

  expect(inputOf(run, 1)).toEqual({ name: 'three' });
  const late = { ...before, values: [{ key: 'x', value: '"other"' }] };
  expect(partition.evaluated([late])).toBe(1);
  isSound();
});

test('a whole output that is a blob is a value like any other', () => {
  const run = startAfterBlob([simple('next', { all: '${big.output}' })]);
  answer();
  expect(inputOf(run, 1)).toEqual({ all: CONTENT });
});

test('a SWITCH, a fork, a loop and a sub-workflow take their values from a blob', () => {
  const child = { tasks: [{ taskReferenceName: 'in', type: 'NOOP' }] };
  const run = startAfterBlob([
    {
      taskReferenceName: 'switch',
      type: 'SWITCH',
      evaluatorType: 'value-param',
      expression: 'kind',
      inputParameters: { kind: '${big.output.kind}' },
      decisionCases: { big: [{ taskReferenceName: 'yes', type: 'NOOP' }] },
      defaultCase: [{ taskReferenceName: 'no', type: 'NOOP' }],
    },
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskInputs: '${big.output.items}', forkTaskName: 'a' },
    },
    { taskReferenceName: 'join', type: 'JOIN' },
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      items: '${big.output.items}',
      loopOver: [{ taskReferenceName: 'body', type: 'NOOP' }],
    },
    {
      taskReferenceName: 'sub',
      type: 'SUB_WORKFLOW',
      subWorkflowParam: { name: 'child', workflowDefinition: child },
      inputParameters: { n: '${big.output.n}' },
    },
  ]);
  const stateOf = (place: number): string =>
    runs.run(run).steps.filter(({ suffix, node }) => suffix === '' && node === place)[0].state;

  answer();
  expect([stateOf(1), stateOf(2), stateOf(3)]).toEqual(['succeeded', 'succeeded', 'pending']);
  answer();
  succeed('{}');
  answer();
  answer();

  expect(runs.run(run)).toMatchObject({ state: 'succeeded' });
  const [loop] = runs.run(run).steps.filter(({ iteration }) => iteration > 0);
  expect(loop.iteration).toBe(CONTENT.items.length);
  const { runs: all } = describeState(partition.state) as unknown as { runs: { input: string }[] };
  expect(all.map(({ input }) => input)).toContain('{"n":2}');
  isSound();
});

test('the output of a run takes values from a blob, also after a restart and a pause', () => {
  const outputParameters = { name: '${big.output.items[1].name}' };
  const run = startAfterBlob([], { outputParameters });
  expect(runs.run(run)).toMatchObject({ state: 'running', isInLine: false });
  expect(partition.openEvaluations()).toMatchObject([{ step: NO_SLOT, language: 'extract' }]);
  isSound();
  partition.restart(1);
  runs.pause(run, true);
  answer();
  expect(runs.run(run)).toMatchObject({ state: 'paused', evaluation: 0 });
  expect(partition.openEvaluations()).toEqual([]);
  runs.pause(run, false);

  answer();

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '{"name":"one"}' });
  isSound();
});

test('a run without outputParameters hands its blob on as it is', () => {
  const run = startAfterBlob([]);
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: `@${SHA}` });
});

test('a join of blobs that is asked for as a whole is put together', () => {
  blobs.set(OTHER, '"other"');
  const run = startAfterBlob([
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN',
      forkTasks: [[simple('one')], [simple('two')]],
    },
    { taskReferenceName: 'join', type: 'JOIN', joinOn: ['one', 'two'] },
  ]);
  succeed(`@${OTHER}`);

  answer();

  const output = JSON.stringify({ one: 'other', two: 'other' });
  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output });
});

test('the condition of a loop sees an output that is a blob', () => {
  const run = startAfterBlob([
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      loopCondition: '$.body.n > $.least',
      inputParameters: { least: '${big.output.n}' },
      loopOver: [simple('body')],
    },
  ]);
  answer();
  succeed(`@${SHA}`);

  expect(partition.openEvaluations()).toMatchObject([{ language: 'extract' }]);
  answer();
  const [asked] = partition.outputs.evaluations;
  expect(asked).toMatchObject({ language: 'javascript' });
  expect(JSON.parse(asked.input)).toEqual({ least: 2, body: CONTENT, loop: { iteration: 1 } });
  // A restart between the two asks for the values again.
  expect(partition.openEvaluations()).toMatchObject([{ language: 'extract' }]);
  partition.evaluated([{ ...asked, value: 'false' }]);

  // The output of the loop is that of the run.
  expect(runs.run(run).steps[1].state).toBe('succeeded');
  answer();
  expect(JSON.parse(runs.run(run).output)).toEqual({ iteration: 1, 1: { body: CONTENT } });
  isSound();
});

test.each([
  ['no longer exists', () => blobs.delete(SHA), 'does not exist any more'],
  ['is no JSON', () => blobs.set(SHA, '{"n":'), 'is not JSON'],
])('a blob that %s fails the step', (_, damage, message) => {
  damage();
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' })]);

  answer();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
  expect(runs.run(run).output).toContain(message);
  isSound();
});

test('a value in a blob that is too large fails the step', () => {
  blobs.set(SHA, JSON.stringify({ n: 'x'.repeat(300_000) }));
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' })]);

  answer();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'value_too_large' });
});

test('a shell that cannot look fails the step, or the run', () => {
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' }, { optional: true })], {
    outputParameters: { n: '${big.output.n}' },
  });
  const { slot } = runs.run(run).steps[1];
  runs.evaluated(slot, { message: 'the sandbox ended' });
  expect(runs.run(run).steps[1]).toMatchObject({ state: 'completed_with_errors' });

  const [asked] = partition.openEvaluations();
  partition.evaluated([{ ...asked, message: 'the sandbox ended' }]);

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
  isSound();
});

test('a paused run begins nothing: the step asks again when the run is resumed', () => {
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' })]);
  runs.pause(run, true);
  answer();
  expect(runs.run(run).steps[1]).toMatchObject({ state: 'due', isEvaluating: false });
  isSound();

  runs.pause(run, false);
  answer();

  expect(inputOf(run, 1)).toEqual({ n: 2 });
});

test('a cancelled run waits for nothing, and a retry asks again', () => {
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' })]);
  const [before] = partition.openEvaluations();
  runs.cancel(run);
  expect(runs.run(run).state).toBe('cancelled');
  expect(partition.openEvaluations()).toEqual([]);

  expect(runs.revive(run, 'retry').rejection).toBeUndefined();
  expect(partition.evaluated([{ ...before, values: [] }])).toBe(1);
  answer();

  expect(inputOf(run, 1)).toEqual({ n: 2 });
  isSound();
});

test('a step that waits for values can be completed by a call', () => {
  const run = startAfterBlob([simple('next', { n: '${big.output.n}' })]);

  expect(runs.end(run, 'next', 'complete', 5).rejection).toBeUndefined();

  expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '5' });
  isSound();
});
