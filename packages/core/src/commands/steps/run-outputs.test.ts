import { beforeEach, expect, test } from 'vitest';
import { VALUE_BYTES_MAX } from '../../expressions/json-writer.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

/** Two of them are more than a value may have. */
const LARGE = 'x'.repeat(VALUE_BYTES_MAX * 0.6);

/** Four bytes each, and twenty-one when they are written again. */
const NUMBERS = JSON.parse(`[${Array.from({ length: 50_000 }, () => '1e20').join()}]`) as number[];

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition({
    arenaChunkBytes: VALUE_BYTES_MAX * 2,
    payloadBytesMax: VALUE_BYTES_MAX * 64,
  });
  runs = new TestRuns(partition);
});

const script = (taskReferenceName: string) => ({
  taskReferenceName,
  type: 'INLINE',
  inputParameters: { expression: '1' },
});

const FORK = {
  taskReferenceName: 'fork',
  type: 'FORK_JOIN',
  forkTasks: [[script('a')], [script('b')]],
};
const JOIN = { taskReferenceName: 'join', type: 'JOIN' };

/** Starts a run whose scripts all give a large text; returns how it ended. */
function ended(definition: object) {
  expect(runs.register('flow', definition).rejection).toBeUndefined();
  const number = runs.begin('flow', { big: LARGE });
  for (let [open] = partition.openEvaluations(); open; [open] = partition.openEvaluations()) {
    runs.evaluated(open.step, { value: JSON.stringify(LARGE) });
    partition.advance();
  }
  const { state, reason, output } = runs.run(number);
  expect(output.length).toBeLessThanOrEqual(VALUE_BYTES_MAX);
  return { state, reason, output };
}

test.each([
  ['the outputs of a join', { tasks: [FORK, JOIN] }],
  [
    'the outputs of a loop',
    {
      tasks: [
        { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2], loopOver: [script('a')] },
      ],
    },
  ],
  [
    'outputParameters',
    {
      tasks: [script('a'), script('b')],
      outputParameters: { a: '${a.output}', b: '${b.output}' },
    },
  ],
  [
    'the output of a TERMINATE',
    {
      tasks: [
        script('a'),
        {
          taskReferenceName: 'end',
          type: 'TERMINATE',
          inputParameters: {
            terminationStatus: 'COMPLETED',
            workflowOutput: ['${a.output.result}', '${a.output.result}'],
          },
        },
      ],
    },
  ],
])('a run fails when %s would be too large', (_, definition) => {
  expect(ended(definition)).toMatchObject({ state: 'failed', reason: 'value_too_large' });
});

test('the output of the last step is the output of the run, also of one that waits for it', () => {
  const inside = { name: 'inside', tasks: [script('a')] };
  const sub = {
    taskReferenceName: 'sub',
    type: 'SUB_WORKFLOW',
    subWorkflowParam: { name: 'inside', workflowDefinition: inside },
  };

  expect(ended({ tasks: [sub] })).toMatchObject({ state: 'succeeded' });
});

test('an output of a TERMINATE that grows when it is written again is too large', () => {
  const end = {
    taskReferenceName: 'end',
    type: 'TERMINATE',
    inputParameters: { terminationStatus: 'COMPLETED', workflowOutput: '${workflow.input.list}' },
  };
  runs.register('flow', { tasks: [end] });
  const text = `{"list":[${NUMBERS.map(() => '1e20').join()}]}`;
  const run = partition.state.runs.table.number[startWith(text)];
  partition.advance();

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'value_too_large' });
});

/** Starts a run with this JSON text as its input; returns its slot. */
function startWith(text: string): number {
  const inputs = new TextEncoder().encode(text);
  const { slots } = partition.operate({
    type: 'start_runs',
    runs: [{ workflow: 'flow', version: 0 }],
    inputs,
    inputEnds: [inputs.length],
  } as never) as { slots: readonly number[] };
  return slots[0];
}
