import { expect, expectTypeOf, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf, type Workflow } from './workflow.ts';

const charge = defineTask({
  type: 'charge',
  retry: { maxAttempts: 5, delayMs: 10 },
  run: (input: { amount: number }) => ({ receipt: `r-${input.amount}`, items: ['a'] }),
});
const pack = defineTask({
  type: 'pack',
  run: (input: { text: string }) => ({ parcel: input.text }),
});
const fly = defineTask({ type: 'fly', run: () => ({ flight: 7 }) });

interface Order {
  readonly amount: number;
  readonly speed?: 'express' | 'normal';
}

const order = defineWorkflow(
  'order',
  {
    version: 2,
    input: inputOf<Order>(),
    inputTemplate: { speed: 'normal' },
    variables: { total: 0 },
    description: 'Sends an order.',
  },
  (w) => {
    const paid = w.step('charge', charge, { amount: w.input.amount }, { retryCount: 2 });
    const { box } = w.fork({
      box: (w) => w.step('pack', pack, { text: `for ${paid.output.receipt}: ${w.runId}` }),
      count: (w) => w.set({ total: w.lengthOf(paid.output.items) as never }),
    });
    const sent = w.switch(w.input.speed, { express: (w) => w.step('fly', fly) }, (w) =>
      w.step('drive', 'drive', { first: paid.output.items[0] }, { optional: true }),
    );
    return { receipt: paid.output.receipt, box: box.output.parcel, sent: sent.express.output };
  },
);

const ORDER = {
  name: 'order',
  version: 2,
  description: 'Sends an order.',
  tasks: [
    {
      name: 'charge',
      taskReferenceName: 'charge',
      type: 'SIMPLE',
      inputParameters: { amount: '${workflow.input.amount}' },
      retry: { maxAttempts: 3, delayMs: 10 },
    },
    {
      name: 'fork-1',
      taskReferenceName: 'fork-1',
      type: 'FORK_JOIN',
      forkTasks: [
        [
          {
            name: 'pack',
            taskReferenceName: 'pack',
            type: 'SIMPLE',
            inputParameters: {
              text: 'for ${charge.output.receipt}: ${workflow.workflowId}',
            },
          },
        ],
        [
          {
            name: 'set-1',
            taskReferenceName: 'set-1',
            type: 'SET_VARIABLE',
            inputParameters: { total: '${charge.output.items.length()}' },
          },
        ],
      ],
    },
    {
      name: 'fork-1-join',
      taskReferenceName: 'fork-1-join',
      type: 'JOIN',
      joinOn: ['pack', 'set-1'],
    },
    {
      name: 'switch-1',
      taskReferenceName: 'switch-1',
      type: 'SWITCH',
      evaluatorType: 'value-param',
      expression: 'value',
      inputParameters: { value: '${workflow.input.speed}' },
      decisionCases: {
        express: [{ name: 'fly', taskReferenceName: 'fly', type: 'SIMPLE', inputParameters: {} }],
      },
      defaultCase: [
        {
          name: 'drive',
          taskReferenceName: 'drive',
          type: 'SIMPLE',
          inputParameters: { first: '${charge.output.items[0]}' },
          optional: true,
        },
      ],
    },
  ],
  inputTemplate: { speed: 'normal' },
  variables: { total: 0 },
  outputParameters: {
    receipt: '${charge.output.receipt}',
    box: '${pack.output.parcel}',
    sent: '${fly.output}',
  },
};

test('steps, branches and cases become the JSON of Conductor', () => {
  expect(order.definition).toEqual(ORDER);
  expect(JSON.parse(JSON.stringify(order.definition))).toEqual(order.definition);
});

test('the input and the output of a run have types', () => {
  expectTypeOf(order).toEqualTypeOf<
    Workflow<
      Order,
      { readonly receipt: string; readonly box: string; readonly sent: { flight: number } | null }
    >
  >();
});

test('a workflow that returns its last step has the output of that step', () => {
  const short = defineWorkflow('short', { version: 1 }, (w) => w.step('fly', fly));
  const silent = defineWorkflow('silent', { version: 1 }, (w) => {
    w.step('fly', fly);
  });

  expect(short.definition).not.toHaveProperty('outputParameters');
  expectTypeOf(short).toEqualTypeOf<Workflow<unknown, { flight: number }>>();
  expectTypeOf(silent).toEqualTypeOf<Workflow<unknown, unknown>>();
});

test('what looks like an expression in a text stays as it is', () => {
  const { definition } = defineWorkflow('literal', { version: 1 }, (w) => {
    w.step('echo', 'echo', { text: 'echo ${HOME} $${x} $', mixed: `\${a} ${w.runId}` });
  });

  expect(definition.tasks[0].inputParameters).toEqual({
    text: 'echo $${HOME} $$${x} $',
    mixed: '$${a} ${workflow.workflowId}',
  });
});

test('names of fields that are no words are quoted', () => {
  const { definition } = defineWorkflow(
    'odd',
    { version: 1, input: inputOf<{ "it's": { 'a b': readonly { n: number }[] } }>() },
    (w) => {
      const list = w.input["it's"]['a b'];
      w.step('a', 'a', {
        second: list[1].n,
        last: w.lastOf(list).n,
        all: w.eachOf(list, 'n'),
        length: w.lengthOf(list),
      });
    },
  );

  const path = "workflow.input['it\\'s']['a b']";
  expect(definition.tasks[0].inputParameters).toEqual({
    second: `\${${path}[1].n}`,
    last: `\${${path}[-1].n}`,
    all: `\${${path}[*].n}`,
    length: `\${${path}.length()}`,
  });
});

test('the options of the task are those of the step, and what the step says itself wins', () => {
  const { definition } = defineWorkflow('options', { version: 1 }, (w) => {
    w.step('a', charge, { amount: 1 });
    w.step('b', charge, { amount: 1 }, { retry: { maxAttempts: 1 }, timeouts: { runMs: 5 } });
    w.step('c', charge, { amount: 1 }, { startDelay: 3, permissive: true, tags: { a: 'b' } });
  });

  const options = definition.tasks.map(
    ({ name: _, taskReferenceName: __, type: ___, inputParameters: ____, ...others }) => others,
  );
  expect(options).toEqual([
    { retry: { maxAttempts: 5, delayMs: 10 } },
    { retry: { maxAttempts: 1 }, timeouts: { runMs: 5 } },
    { retry: { maxAttempts: 5, delayMs: 10 }, startDelay: 3, permissive: true, tags: { a: 'b' } },
  ]);
});

test('a run can end early', () => {
  const { definition } = defineWorkflow('early', { version: 1 }, (w) => {
    const { output } = w.step('fly', fly);
    w.terminate({ status: 'failed', reason: `flight ${output.flight}`, output: { a: output } });
  });

  expect(definition.tasks[1]).toMatchObject({
    type: 'TERMINATE',
    inputParameters: {
      terminationStatus: 'FAILED',
      terminationReason: 'flight ${fly.output.flight}',
      workflowOutput: { a: '${fly.output}' },
    },
  });
});
