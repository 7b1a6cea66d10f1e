/** Kinds of steps whose JSON is Conductor's and which the server may not take yet. */
import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

const shrink = defineTask({ type: 'shrink', run: (input: { url: string }) => input.url });

const child = defineWorkflow('child', { version: 3, input: inputOf<{ url: string }>() }, (w) => {
  return { small: w.step('shrink', shrink, { url: w.input.url }).output };
});

test('another workflow is a step', () => {
  const { definition } = defineWorkflow('parent', { version: 1 }, (w) => {
    const sum = w.inline<number>('sum', '1 + 1');
    w.subWorkflow('small', child, { url: `u-${sum.output.result}` });
    w.subWorkflow('other', 'other', { any: 1 }, { version: 4 });
  });

  expect(definition.tasks.slice(1)).toMatchObject([
    {
      type: 'SUB_WORKFLOW',
      inputParameters: { url: 'u-${sum.output.result}' },
      subWorkflowParam: { name: 'child', version: 3 },
    },
    { type: 'SUB_WORKFLOW', subWorkflowParam: { name: 'other', version: 4 } },
  ]);
});

test('a workflow may run itself behind a switch', () => {
  const { definition } = defineWorkflow(
    'countdown',
    { version: 1, input: inputOf<{ n: number }>() },
    (w) => {
      w.switch(w.input.n, { 0: (w) => w.noop() }, (w) => {
        w.subWorkflow('next', 'countdown', { n: 0 });
      });
    },
  );

  expect(definition.tasks[0].defaultCase).toMatchObject([
    { type: 'SUB_WORKFLOW', subWorkflowParam: { name: 'countdown' } },
  ]);
});
