/** Kinds of steps whose JSON is Conductor's and which the server may not take yet. */
import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

const shrink = defineTask({ type: 'shrink', run: (input: { url: string }) => input.url });

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
