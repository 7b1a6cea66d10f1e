/** Runs that start other runs. */
import { beforeEach, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { PermanentFailure } from '../task/failures.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';
import { TestSluice } from './test-sluice.ts';

const shrink = defineTask({
  type: 'shrink',
  run: ({ url }: { url: string }) => {
    if (url === 'bad') throw new PermanentFailure('no picture');
    return { small: `${url}-small` };
  },
});

const one = defineWorkflow('one', { version: 2, input: inputOf<{ url: string }>() }, (w) => {
  w.wait('rest', { seconds: 3600 });
  return { small: w.step('shrink', shrink, { url: w.input.url }).output.small };
});
const rescue = defineWorkflow('rescue', { version: 1 }, (w) => {
  w.human('look', { what: w.input });
});
const both = defineWorkflow(
  'both',
  { version: 1, input: inputOf<{ url: string }>(), failureWorkflow: rescue },
  (w) => {
    const { left, right } = w.fork({
      left: (w) => w.subWorkflow('left', one, { url: w.input.url }),
      right: (w) => w.subWorkflow('right', one, { url: 'b' }),
    });
    const later = w.startWorkflow('later', one, { url: 'c' });
    return { list: [left.output.small, right.output.small], id: later.output.workflowId };
  },
);

let tests: TestSluice;

beforeEach(() => {
  tests = new TestSluice([shrink]);
});

test('a run waits for the runs that it needs, and not for those that it starts', async () => {
  const run = await tests.start(both, { url: 'a' });

  const { list, id } = await run.result();

  expect(list).toEqual(['a-small', 'b-small']);
  expect(await tests.run(id).result()).toEqual({ small: 'c-small' });
  const { steps } = await run.get();
  const { childRunId } = steps.find(({ reference }) => reference === 'left') ?? {};
  const below = await tests.run(childRunId ?? '').get();
  expect(below).toMatchObject({ workflow: 'one', version: 2, status: 'succeeded' });
  expect(below.parent).toEqual({ runId: run.id, step: 'left', relation: 'sub_workflow' });
});

test('a run below that fails fails the run, which starts its failure workflow', async () => {
  const run = await tests.start(both, { url: 'bad' });

  const { status, reason, error } = await run.wait();

  expect({ status, reason }).toEqual({ status: 'failed', reason: 'child_failed' });
  expect(error?.message).toContain('of "one" ended as failed');
  const rescued = await tests.run(error?.failureRunId ?? '').get();
  expect(rescued).toMatchObject({ workflow: 'rescue', status: 'running' });
  expect(rescued.input).toMatchObject({ url: 'bad', workflowId: run.id, failureStep: 'left' });
});

test('a cancel reaches the runs below', async () => {
  const run = await tests.start(both, { url: 'a' });
  const { steps } = await run.get();

  await run.cancel();

  for (const { childRunId } of steps) {
    if (childRunId === null) continue;
    expect((await tests.run(childRunId).get()).status).toBe('cancelled');
  }
});
