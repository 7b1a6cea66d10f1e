import { expect, test } from 'vitest';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';
import { TestSluice } from './test-sluice.ts';

const inputSchema = { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } };
const outputSchema = { type: 'object', required: ['size'], properties: { size: { minimum: 2 } } };

const resize = defineWorkflow(
  'resize',
  { version: 1, input: inputOf<{ size: number }>(), inputSchema, outputSchema },
  (w) => {
    w.set({ size: w.input.size });
    return { size: w.input.size };
  },
);

test('the schemas are in the definition, and are enforced as on a server', async () => {
  const tests = new TestSluice([]);

  expect(resize.definition).toMatchObject({ inputSchema, outputSchema });
  await expect(tests.start(resize, { size: 10 })).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ path: '/input/size', problem: 'must be <= 9' }],
  });
  expect(await (await tests.start(resize, { size: 5 })).result()).toEqual({ size: 5 });
  await expect((await tests.start(resize, { size: 1 })).result()).rejects.toThrow(
    'does not fit the outputSchema: /size must be >= 2',
  );
});

test('a schema that cannot be used is refused', async () => {
  const options = { version: 1, inputSchema: { pattern: 'a' } };
  const bad = defineWorkflow('bad', options, (w) => w.noop());

  await expect(new TestSluice([]).start(bad)).rejects.toMatchObject({
    code: 'invalid_definition',
    details: [{ path: '/inputSchema/pattern' }],
  });
});

test('a definition with a jq query is refused, because nothing here evaluates it', async () => {
  const inputParameters = { queryExpression: '.a' };
  const query = { taskReferenceName: 'query', type: 'JSON_JQ_TRANSFORM', inputParameters };
  const definition = { name: 'query', version: 1, tasks: [query] };

  await expect(new TestSluice([]).workflows.put(definition)).rejects.toThrow(
    'TestSluice does not evaluate JSON_JQ_TRANSFORM',
  );
});
