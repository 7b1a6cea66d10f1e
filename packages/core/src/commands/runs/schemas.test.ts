import { beforeEach, expect, test } from 'vitest';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { joined } from '../../testing/test-payloads.ts';
import type { StartRuns } from './start-runs.ts';

let runs: TestRuns;

beforeEach(() => {
  runs = new TestRuns(new TestPartition());
});

const AMOUNT = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'number' } },
};

/** How a run of the workflow ended. */
function ended(workflow: string, input: object = {}): object {
  const { state, output } = runs.run(runs.begin(workflow, input));
  return { state, output: JSON.parse(output ?? 'null') };
}

const noop = { taskReferenceName: 'nothing', type: 'NOOP' };

test('an input that does not fit is refused, and defaults count', () => {
  runs.register('strict', { tasks: [noop], inputSchema: AMOUNT });
  runs.register('filled', { tasks: [noop], inputSchema: AMOUNT, inputTemplate: { amount: 3 } });

  expect(runs.start('strict', { amount: 'x' })).toMatchObject({
    rejection: 'unfit_input',
    unfit: [{ at: 0, path: '/amount', problem: 'must be number' }],
  });
  expect(runs.start('strict', 7).unfit).toMatchObject([{ path: '', problem: 'must be object' }]);
  expect(runs.start('strict', { amount: 1 }).rejection).toBeUndefined();
  expect(runs.start('filled', {}).rejection).toBeUndefined();
  expect(runs.start('filled', { amount: null }).rejection).toBe('unfit_input');
});

test('an output that does not fit fails the run', () => {
  const outputParameters = { amount: '${workflow.input.amount}' };
  runs.register('flow', { tasks: [noop], outputParameters, outputSchema: AMOUNT });

  expect(ended('flow', { amount: 1 })).toMatchObject({ state: 'succeeded', output: { amount: 1 } });
  const message = 'the output of the run: does not fit the outputSchema: /amount must be number';
  expect(ended('flow', { amount: 'x' })).toMatchObject({
    state: 'failed',
    output: { code: 'bad_value', message },
  });
});

test('so does the output of a TERMINATE', () => {
  const inputParameters = { workflowOutput: { amount: '${workflow.input.amount}' } };
  const end = { taskReferenceName: 'end', type: 'TERMINATE', inputParameters };
  runs.register('flow', { tasks: [end], outputSchema: AMOUNT });

  expect(runs.run(runs.begin('flow', { amount: 1 })).state).toBe('succeeded');
  expect(ended('flow')).toMatchObject({
    state: 'failed',
    output: { code: 'bad_value', step: 'end' },
  });
});

test.each([
  ['SUB_WORKFLOW', { subWorkflowParam: { name: 'strict' }, inputParameters: { amount: 'x' } }],
  [
    'START_WORKFLOW',
    { inputParameters: { startWorkflow: { name: 'strict', input: { amount: 'x' } } } },
  ],
])('a %s whose input does not fit fails', (type, fields) => {
  runs.register('strict', { tasks: [noop], inputSchema: AMOUNT });
  runs.register('flow', { tasks: [{ taskReferenceName: 'other', type, ...fields }] });

  const what = 'its input does not fit the inputSchema of the workflow: /amount must be number';
  expect(ended('flow')).toMatchObject({
    state: 'failed',
    output: { code: 'bad_value', step: 'other', message: `step "other": ${what}` },
  });
});

test('a failure workflow that does not take its input is not started', () => {
  runs.register('strict', { tasks: [noop], inputSchema: AMOUNT });
  const inputParameters = { terminationStatus: 'FAILED' };
  const end = { taskReferenceName: 'end', type: 'TERMINATE', inputParameters };
  runs.register('flow', { tasks: [end], failureWorkflow: 'strict' });

  expect(ended('flow')).toMatchObject({
    state: 'failed',
    output: { failureProblem: expect.stringContaining('/amount is required') },
  });
});

test('the runs of one command share the work of their checks', () => {
  const partition = new TestPartition({
    tasksMax: 2000,
    payloadBytesMax: 2 ** 26,
    arenaChunkBytes: 2 ** 20,
  });
  const many = new TestRuns(partition);
  const inputSchema = { properties: { list: { type: 'array', items: { type: 'number' } } } };
  many.register('strict', { tasks: [noop], inputSchema });
  const input = JSON.stringify({ list: Array(5000).fill(1) });
  const { bytes, ends } = joined(Array(100).fill(input));
  const start = (count: number) =>
    partition.operate<StartRuns>({
      type: 'start_runs',
      runs: Array(count).fill({ workflow: 'strict', version: 0 }),
      inputs: bytes.subarray(0, ends[count - 1]),
      inputEnds: ends.slice(0, count),
    });

  expect(start(20).rejection).toBeUndefined();
  const refused = start(100);
  expect(refused.rejection).toBe('unfit_input');
  expect(refused.unfit?.[0].problem).toContain('takes too long to check');
});
