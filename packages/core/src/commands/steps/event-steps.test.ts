import { beforeEach, expect, test } from 'vitest';
import { DELIVERY_FAILURES } from '../../task/delivery-failures.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';
import type { RecordDelivery } from '../callbacks/record-delivery.ts';

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
});

const event = (sink: unknown) => ({
  taskReferenceName: 'tell',
  type: 'EVENT',
  sink,
  inputParameters: { order: '${workflow.input.order}' },
});

function begin(sink: string, input: object = { order: 7 }): number {
  expect(runs.register('flow', { tasks: [event(sink)] }).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test.each([
  ['sluice:order.paid', 'order.paid'],
  ['conductor', 'conductor:flow:tell'],
  ['conductor:paid', 'conductor:flow:paid'],
  ['${workflow.input.to}', 'a:b'],
])('the sink %s publishes %s', (sink, name) => {
  const run = begin(sink, { order: 7, to: 'sluice:a:b' });

  const { state, output } = runs.run(run);

  expect(state).toBe('succeeded');
  expect(JSON.parse(output)).toEqual({
    order: 7,
    workflowInstanceId: runs.id(run),
    workflowType: 'flow',
    workflowVersion: 1,
    correlationId: null,
    event_produced: name,
  });
  expect(partition.state.tasks.count + partition.state.runs.promised).toBe(0);
  isSound();
});

test('with asyncComplete the step begins with the event, and ends by a call', () => {
  const tasks = [{ ...event('sluice:order.paid'), asyncComplete: true }];
  runs.register('flow', { tasks, outputParameters: { given: '${tell.output}' } });
  const run = runs.begin('flow', { order: 7 });
  const [step] = runs.run(run).steps;
  expect([runs.run(run).state, step.state]).toEqual(['running', 'running']);
  expect(JSON.parse(step.input)).toMatchObject({ order: 7, event_produced: 'order.paid' });
  isSound();

  runs.end(run, 'tell', 'complete', { a: 1 });

  const { state, output } = runs.run(run);
  expect([state, output]).toEqual(['succeeded', '{"given":{"a":1}}']);
  isSound();
});

test.each([
  ['delivered', 0, 200, 'running'],
  ['given up', DELIVERY_FAILURES.indexOf('gone'), 410, 'failed'],
])('with asyncComplete, a webhook that is %s', (_, failure, status, state) => {
  const tasks = [{ ...event('webhook:https://example.com/hook'), asyncComplete: true }];
  runs.register('flow', { tasks });
  const run = runs.begin('flow', { order: 7 });
  const [{ number: delivery }] = partition.state.outbox.pending();

  const tried = { type: 'record_delivery', delivery, failure, status } as const;
  partition.operate<RecordDelivery>({ ...tried, durationMs: 1, seed: 1 });

  expect(runs.run(run).state).toBe(state);
  isSound();
  if (state === 'failed') return;
  runs.end(run, 'tell');
  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test.each(['webhook:https://example.com/hook', '${workflow.input.to}'])(
  'the sink %s owes a delivery, and the step does not wait for it',
  (sink) => {
    const run = begin(sink, { order: 7, to: 'webhook:https://example.com/hook' });

    expect(runs.run(run)).toMatchObject({ state: 'succeeded', output: '' });

    const [delivery] = partition.state.outbox.pending();
    const callback = partition.state.texts.callback.at(delivery.callback);
    expect(callback).toMatchObject({ url: 'https://example.com/hook' });
    isSound();
  },
);

test.each(['kafka:topic', 'webhook:file:///etc/passwd', 'sluice:a b', 7])(
  'a sink that turns out as %j fails the step',
  (to) => {
    const run = begin('${workflow.input.to}', { to });
    expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
    expect(runs.run(run).output).toContain('sink');
    isSound();
  },
);

test.each([
  [undefined, 'missing_field', 'needs a sink'],
  [7, 'bad_field', 'sink must be a text'],
  ['kafka:topic', 'bad_field', 'not supported'],
  ['sluice:', 'bad_field', 'not supported'],
  ['webhook:ftp://x', 'bad_field', 'url must be an address'],
])('the sink %j is refused', (sink, code, message) => {
  const { problems } = compileDefinition({ tasks: [event(sink)] }, testUtf8);
  expect(problems).toMatchObject([{ path: '/tasks/0/sink', code }]);
  expect(problems?.[0].message).toContain(message);
});
