import { expect, test } from 'vitest';
import { defineWorkflow } from '../../workflow/define-workflow.ts';
import { inputOf } from '../../workflow/workflow.ts';
import { TestSluice } from '../test-sluice.ts';
import { httpMock } from './http-mock.ts';

const order = defineWorkflow('order', { version: 1, input: inputOf<{ n: number }>() }, (w) => {
  const call = w.http<{ id: string }>(
    'call',
    { uri: `https://api.example.com/${w.input.n}`, method: 'POST', body: { n: w.input.n } },
    { retryCount: 2 },
  );
  return { id: call.output.response.body.id, status: call.output.response.statusCode };
});

test('a request is answered by the mock, and tried again as on a server', async () => {
  const seen: unknown[] = [];
  const mock = httpMock((request) => {
    seen.push(request);
    return seen.length === 1 ? { statusCode: 503 } : { statusCode: 201, body: { id: 'x' } };
  });
  const tests = new TestSluice([mock]);

  const run = await tests.start(order, { n: 7 });

  expect(await run.result()).toEqual({ id: 'x', status: 201 });
  const request = { uri: 'https://api.example.com/7', method: 'POST', headers: {}, body: { n: 7 } };
  expect(seen).toEqual([request, request]);
});

test('a status that no retry mends fails the run', async () => {
  const tests = new TestSluice([httpMock(() => ({ statusCode: 404 }))]);

  const run = await tests.start(order, { n: 7 });

  expect((await run.wait()).steps[0]).toMatchObject({ type: 'HTTP', state: 'failed', attempt: 1 });
});

test('an HTTP step is the JSON of Conductor', () => {
  expect(order.definition.tasks).toEqual([
    {
      name: 'call',
      taskReferenceName: 'call',
      type: 'HTTP',
      inputParameters: {
        http_request: {
          uri: 'https://api.example.com/${workflow.input.n}',
          method: 'POST',
          body: { n: '${workflow.input.n}' },
        },
      },
      retry: { maxAttempts: 3 },
    },
  ]);
});
