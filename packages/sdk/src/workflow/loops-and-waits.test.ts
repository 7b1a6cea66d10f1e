/** Loops, waits and scripts as JSON. TestSluice runs them in its own tests. */
import { afterEach, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf, type WorkflowJson } from './workflow.ts';

const shrink = defineTask({ type: 'shrink', run: (input: { url: string }) => input.url });
const check = defineTask({ type: 'check', run: () => ({ done: true }) });

let definition: WorkflowJson;

afterEach(async () => {
  const { change } = await new TestSluice([]).workflows.put(definition);

  expect(change).toBe('new');
});

test('a loop repeats while its condition holds', () => {
  ({ definition } = defineWorkflow('polling', { version: 1 }, (w) => {
    const last = w.loop(
      { while: '$.check.done !== true', keepLastN: 2, name: 'poll' },
      (w, { count }) => {
        w.step('note', 'note', { count });
        return w.step('check', check);
      },
    );
    return { done: last.output.done };
  }));

  expect(definition.tasks).toMatchObject([
    {
      taskReferenceName: 'poll',
      type: 'DO_WHILE',
      loopCondition: '$.check.done !== true',
      inputParameters: { keepLastN: 2 },
      loopOver: [
        { taskReferenceName: 'note', inputParameters: { count: '${poll.output.iteration}' } },
        { taskReferenceName: 'check' },
      ],
    },
  ]);
  expect(definition.outputParameters).toEqual({ done: '${check.output.done}' });
});

test('a loop over a list knows its element', () => {
  ({ definition } = defineWorkflow(
    'shards',
    { version: 1, input: inputOf<{ shards: { url: string }[] }>() },
    (w) => {
      const last = w.loopOver(w.input.shards, (w, { item, index }) => {
        w.step('note', 'note', { index });
        return w.step('shrink', shrink, { url: item.url });
      });
      return { last: last.output };
    },
  ));

  expect(definition.tasks).toMatchObject([
    {
      taskReferenceName: 'loop-1',
      type: 'DO_WHILE',
      items: '${workflow.input.shards}',
      loopCondition: '',
      loopOver: [
        { inputParameters: { index: '${loop-1.output.loopIndex}' } },
        { inputParameters: { url: '${loop-1.output.loopItem.url}' } },
      ],
    },
  ]);
});

test('waits, people and scripts are steps', () => {
  ({ definition } = defineWorkflow(
    'approval',
    { version: 1, input: inputOf<{ seconds: number }>(), timeoutSeconds: 3600 },
    (w) => {
      w.wait('cool-down', { seconds: 90 });
      w.wait('given', { seconds: w.input.seconds });
      w.wait('morning', { until: '2030-01-31 08:00 UTC' });
      w.wait('signal');
      const answer = w.human<{ isFine: boolean }>('approve', { title: 'May it go live?' });
      w.inline<number>('sum', '`${$.a}` + 1', { a: answer.output.isFine, b: '${' });
    },
  ));

  expect(definition.timeoutSeconds).toBe(3600);
  expect(definition.tasks).toMatchObject([
    { type: 'WAIT', inputParameters: { duration: '90 seconds' } },
    { type: 'WAIT', inputParameters: { duration: '${workflow.input.seconds} seconds' } },
    { type: 'WAIT', inputParameters: { until: '2030-01-31 08:00 UTC' } },
    { type: 'WAIT', inputParameters: {} },
    { type: 'HUMAN', inputParameters: { title: 'May it go live?' } },
    {
      type: 'INLINE',
      inputParameters: {
        a: '${approve.output.isFine}',
        b: '$${',
        evaluatorType: 'javascript',
        expression: '`${$.a}` + 1',
      },
    },
  ]);
});

test('a script can choose between paths', () => {
  ({ definition } = defineWorkflow(
    'sizes',
    { version: 1, input: inputOf<{ amount: number }>() },
    (w) => {
      const script = "`${$.amount > 100 ? 'large' : 'small'}`";
      const { large, otherwise } = w.switchBy(
        { script, input: { amount: w.input.amount }, name: 'size' },
        { large: (w) => w.step('check', check) },
        (w) => w.step('shrink', shrink, { url: 'u' }),
      );
      return { large: large.output.done, small: otherwise.output };
    },
  ));

  expect(definition.tasks).toMatchObject([
    {
      taskReferenceName: 'size',
      type: 'SWITCH',
      evaluatorType: 'javascript',
      expression: "`${$.amount > 100 ? 'large' : 'small'}`",
      inputParameters: { amount: '${workflow.input.amount}' },
      decisionCases: { large: [{ taskReferenceName: 'check' }] },
      defaultCase: [{ taskReferenceName: 'shrink' }],
    },
  ]);
  expect(definition.outputParameters).toEqual({
    large: '${check.output.done}',
    small: '${shrink.output}',
  });
});
