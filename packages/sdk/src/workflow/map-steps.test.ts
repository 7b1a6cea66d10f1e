import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

interface Picture {
  readonly url: string;
}

const shrink = defineTask({
  type: 'shrink',
  run: ({ url }: Picture) => {
    if (url === 'broken') throw new Error('no picture');
    return { small: `${url}-small` };
  },
});

const pictures = defineWorkflow(
  'pictures',
  { version: 1, input: inputOf<{ pictures: Picture[] }>() },
  (w) => {
    const small = w.map(w.input.pictures, shrink, { retryCount: 0, optional: true });
    return { all: small.outputs, urls: small.outputs.small, first: small.output._shrink_0 };
  },
);

test('a map is a dynamic fork with one task per element', () => {
  const { definition } = pictures;

  expect(definition.tasks).toEqual([
    {
      name: 'map-1',
      taskReferenceName: 'map-1',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'shrink', forkTaskInputs: '${workflow.input.pictures}' },
      retry: { maxAttempts: 1 },
      optional: true,
    },
    { name: 'map-1-join', taskReferenceName: 'map-1-join', type: 'JOIN', joinOn: [] },
  ]);
  expect(definition.outputParameters).toEqual({
    all: '${map-1-join.output[*]}',
    urls: '${map-1-join.output[*].small}',
    first: '${map-1-join.output._shrink_0}',
  });
});

test('its outputs are in the order of the list, and a task that failed has none', async () => {
  const sluice = new TestSluice([shrink]);
  const list = ['a', 'broken', 'c'].map((url) => ({ url }));
  const run = await sluice.start(pictures, { pictures: list });

  expect(await run.result()).toEqual({
    all: [{ small: 'a-small' }, null, { small: 'c-small' }],
    urls: ['a-small', 'c-small'],
    first: { small: 'a-small' },
  });
  const { steps } = await run.get();
  expect(steps.map(({ reference, state }) => `${reference} ${state}`)).toEqual([
    'map-1 succeeded',
    'map-1-join completed_with_errors',
    '_shrink_0 succeeded',
    '_shrink_1 completed_with_errors',
    '_shrink_2 succeeded',
  ]);
});

test('a map takes the name of a type that is defined elsewhere', () => {
  const { definition } = defineWorkflow(
    'counts',
    { version: 1, input: inputOf<{ words: string[] }>() },
    (w) => {
      const counted = w.map<number>(w.input.words, 'count', { name: 'counts' });
      return { all: counted.outputs };
    },
  );

  expect(definition.tasks[0]).toMatchObject({
    taskReferenceName: 'counts',
    inputParameters: { forkTaskName: 'count', forkTaskInputs: '${workflow.input.words}' },
  });
});

test('a map in a case may not have run', async () => {
  const maybe = defineWorkflow(
    'maybe',
    { version: 1, input: inputOf<{ kind: 'many' | 'none'; pictures: Picture[] }>() },
    (w) => {
      const { many } = w.switch(w.input.kind, {
        many: (w) => w.map(w.input.pictures, shrink, { name: 'each' }),
      });
      return { urls: many.outputs.small };
    },
  );
  const sluice = new TestSluice([shrink]);
  const results = ['many', 'none'].map(async (kind) => {
    const input = { kind: kind as 'many', pictures: [{ url: 'x' }] };
    return (await sluice.start(maybe, input)).result();
  });

  expect(await Promise.all(results)).toEqual([{ urls: ['x-small'] }, { urls: [] }]);
});

test('a map of a workflow is a dynamic fork with one run per element', async () => {
  const child = defineWorkflow('child', { version: 2, input: inputOf<{ url: string }>() }, (w) => ({
    small: w.step('shrink', shrink, { url: w.input.url }).output.small,
  }));
  const album = defineWorkflow(
    'album',
    { version: 1, input: inputOf<{ pictures: { url: string }[] }>() },
    (w) => {
      const each = w.map(w.input.pictures, child, { optional: true });
      return { all: each.outputs.small };
    },
  );
  expect(album.definition.tasks[0]).toEqual({
    name: 'map-1',
    taskReferenceName: 'map-1',
    type: 'FORK_JOIN_DYNAMIC',
    inputParameters: {
      forkTaskWorkflow: 'child',
      forkTaskWorkflowVersion: 2,
      forkTaskInputs: '${workflow.input.pictures}',
    },
    optional: true,
  });
  const tests = new TestSluice([shrink]);

  const run = await tests.start(album, { pictures: [{ url: 'a' }, { url: 'b' }] });

  expect(await run.result()).toEqual({ all: ['a-small', 'b-small'] });
  const { steps } = await run.get();
  const branch = steps.find(({ reference }) => reference === '_child_0');
  expect(branch).toMatchObject({ type: 'SUB_WORKFLOW', state: 'succeeded' });
  expect(branch?.childRunId).toMatch(/^r_/);
  // @ts-expect-error: the elements are no inputs of the workflow
  defineWorkflow('wrong', { version: 1 }, (w) => w.map([{ link: 'a' }], child));
});
