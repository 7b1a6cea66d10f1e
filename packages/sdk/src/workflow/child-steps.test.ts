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

test('a workflow that is started is a step, too', () => {
  const parent = defineWorkflow('parent', { version: 1, failureWorkflow: child }, (w) => {
    const started = w.startWorkflow('go', child, { url: 'x' }, { correlationId: w.runId });
    return { id: started.output.workflowId };
  });

  const startWorkflow = {
    name: 'child',
    version: 3,
    input: { url: 'x' },
    correlationId: '${workflow.workflowId}',
  };
  expect(parent.definition).toMatchObject({
    tasks: [{ type: 'START_WORKFLOW', inputParameters: { startWorkflow } }],
    outputParameters: { id: '${go.output.workflowId}' },
    failureWorkflow: 'child',
    failureWorkflowVersion: 3,
  });
  expect(parent.uses).toEqual([child]);
});

test('a failure workflow may be a name', () => {
  const { definition, uses } = defineWorkflow('w', { version: 1, failureWorkflow: 'r' }, (w) => {
    w.noop();
  });

  expect(definition.failureWorkflow).toBe('r');
  expect(definition).not.toHaveProperty('failureWorkflowVersion');
  expect(uses).toEqual([]);
});

test('misuse is an error, of the compiler where it can be', () => {
  const build = (version: number) => () =>
    defineWorkflow('p', { version: 1 }, (w) => {
      // @ts-expect-error: the input of the child has a url
      w.subWorkflow('one', child, { link: 1 });
      const two = w.subWorkflow('two', child, { url: 'x' }, { optional: true });
      // @ts-expect-error: the output may be null
      w.subWorkflow('three', child, { url: two.output.small });
      w.subWorkflow('four', child, { url: 'x' }, { version });
    });

  expect(build(3)).not.toThrow();
  expect(build(4)).toThrow(
    /step 'four': the workflow 'child' has the version 3; to run version 4, use its name$/,
  );
  const self = () => defineWorkflow('s', { version: 1 }, (w) => w.startWorkflow('x', 's', {}));
  expect(self).toThrow(/runs the workflow 's' itself/);
});
