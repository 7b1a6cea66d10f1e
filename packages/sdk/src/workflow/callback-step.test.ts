import { expect, test } from 'vitest';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

const tell = defineWorkflow('tell', { version: 1, input: inputOf<{ hook: string }>() }, (w) => {
  w.callback('done', { url: w.input.hook }, { id: w.runId });
  w.noop({ name: 'last' });
});

test('a callback is a step with a receiver and data', () => {
  expect(tell.definition.tasks[0]).toEqual({
    name: 'done',
    taskReferenceName: 'done',
    type: 'CALLBACK',
    callback: { url: '${workflow.input.hook}' },
    inputParameters: { id: '${workflow.workflowId}' },
  });
});

test('a run of a TestSluice goes on behind a callback', async () => {
  const run = await new TestSluice([]).start(tell, { hook: 'https://example.com/hook' });

  const { status, steps } = await run.wait();

  expect(status).toBe('succeeded');
  expect(steps[0]).toMatchObject({ type: 'CALLBACK', state: 'succeeded', input: { id: run.id } });
});
