import { expect, test } from 'vitest';
import { blocksOf } from './definition.ts';
import { countsOf, marksOf, type Step } from './step-marks.ts';

const BLOCKS = blocksOf({
  tasks: [
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      loopOver: [{ taskReferenceName: 'body', name: 'x' }],
    },
    { taskReferenceName: 'each', type: 'FORK_JOIN_DYNAMIC' },
    { taskReferenceName: 'last', name: 'x' },
  ],
});

const step = (reference: string, state = 'succeeded') => ({ reference, state }) as Step;

test('the iterations of a loop are counted at their step, which shows the newest', () => {
  const marks = marksOf(BLOCKS, [step('loop'), step('body__1'), step('body__2', 'running')]);

  expect(marks.get('body')?.step.state).toBe('running');
  expect(marks.get('body')?.many).toHaveLength(2);
  expect(marks.get('loop')?.many).toEqual([]);
});

test('the branches of a dynamic fork are counted at the fork', () => {
  const steps = [step('each'), step('_cut_0'), step('_cut_1', 'failed'), step('last')];

  const marks = marksOf(BLOCKS, steps);

  expect(countsOf(marks.get('each')?.many ?? [])).toEqual([
    ['succeeded', 1],
    ['failed', 1],
  ]);
  expect(marks.get('last')?.many).toEqual([]);
  expect(marks.has('_cut_0')).toBe(false);
});
