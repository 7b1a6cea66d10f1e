/** Kinds of steps whose JSON is Conductor's and which the server may not take yet. */
import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

const shrink = defineTask({ type: 'shrink', run: (input: { url: string }) => input.url });
const check = defineTask({ type: 'check', run: () => ({ done: true }) });

const child = defineWorkflow('child', { version: 3, input: inputOf<{ url: string }>() }, (w) => {
  return { small: w.step('shrink', shrink, { url: w.input.url }).output };
});

test('a map is a dynamic fork with one task per element', () => {
  const { definition } = defineWorkflow(
    'pictures',
    { version: 1, input: inputOf<{ pictures: { url: string }[] }>() },
    (w) => ({ small: w.map(w.input.pictures, shrink).output }),
  );

  expect(definition.tasks).toEqual([
    {
      name: 'map-1',
      taskReferenceName: 'map-1',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'shrink', forkTaskInputs: '${workflow.input.pictures}' },
    },
    { name: 'map-1-join', taskReferenceName: 'map-1-join', type: 'JOIN', joinOn: [] },
  ]);
  expect(definition.outputParameters).toEqual({ small: '${map-1-join.output}' });
});

test('a loop repeats while its condition holds', () => {
  const { definition } = defineWorkflow('polling', { version: 1 }, (w) => {
    const last = w.loop(
      { while: '$.check.done !== true', keepLastN: 2, name: 'poll' },
      (w, { count }) => {
        w.step('note', 'note', { count });
        return w.step('check', check);
      },
    );
    return { done: last.output.done };
  });

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
  const { definition } = defineWorkflow(
    'shards',
    { version: 1, input: inputOf<{ shards: { url: string }[] }>() },
    (w) => {
      const last = w.loopOver(w.input.shards, (w, { item, index }) => {
        w.step('note', 'note', { index });
        return w.step('shrink', shrink, { url: item.url });
      });
      return { last: last.output };
    },
  );

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

test('waits, people, scripts and other workflows are steps', () => {
  const { definition } = defineWorkflow(
    'approval',
    { version: 1, input: inputOf<{ seconds: number }>() },
    (w) => {
      w.wait('cool-down', { seconds: 90 });
      w.wait('given', { seconds: w.input.seconds });
      w.wait('morning', { until: '2030-01-31 08:00 UTC' });
      w.wait('signal');
      const answer = w.human<{ isFine: boolean }>('approve', { title: 'May it go live?' });
      const sum = w.inline<number>('sum', '`${$.a}` + 1', { a: answer.output.isFine });
      w.subWorkflow('small', child, { url: `u-${sum.output.result}` });
      w.subWorkflow('other', 'other', { any: 1 }, { version: 4 });
    },
  );

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
        evaluatorType: 'javascript',
        expression: '`$${$.a}` + 1',
      },
    },
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
