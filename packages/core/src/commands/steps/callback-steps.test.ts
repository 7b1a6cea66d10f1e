import { beforeEach, expect, test } from 'vitest';
import { DELIVERY_FAILURES } from '../../task/delivery-failures.ts';
import { describeState } from '../../testing/describe-state.ts';
import { runProblems } from '../../testing/runs/run-problems.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';
import type { RecordDelivery } from '../callbacks/record-delivery.ts';

const URL = 'https://example.com/hook';
const REFUSED = DELIVERY_FAILURES.indexOf('answered_with_error');

let partition: TestPartition;
let runs: TestRuns;

beforeEach(() => {
  partition = new TestPartition();
  runs = new TestRuns(partition);
});

const tell = (callback: unknown, more: object = {}) => ({
  taskReferenceName: 'tell',
  type: 'CALLBACK',
  callback,
  inputParameters: { n: '${workflow.input.n}' },
  ...more,
});

function begin(step: object, input: object = { n: 7 }): number {
  expect(runs.register('flow', { tasks: [step] }).rejection).toBeUndefined();
  return runs.begin('flow', input);
}

/** The only delivery. */
function owed() {
  const [delivery] = partition.state.outbox.pending();
  return delivery;
}

function record(failure: number, status: number): void {
  partition.operate<RecordDelivery>({
    type: 'record_delivery',
    delivery: owed().number,
    failure,
    status,
    durationMs: 1,
    seed: 1,
  });
}

function isSound(): void {
  expect([...runProblems(partition.state), ...stateProblems(partition.state)]).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('a step owes a delivery with its input and ends at once', () => {
  const run = begin(tell({ url: '${workflow.input.to}', secret: null }), { n: 7, to: URL });

  expect(runs.run(run).state).toBe('succeeded');
  const { task, callback } = owed();
  expect(partition.state.texts.callback.at(callback)).toEqual({ url: URL, on: ['queued'] });
  expect(testUtf8.decode(Uint8Array.from(partition.task(task).input))).toBe('{"n":7}');
  expect(partition.task(task).state).toBe('succeeded');
  isSound();
  record(0, 200);
  expect(partition.state.outbox.pendingCount).toBe(0);
  isSound();
});

test('a step that waits ends when its callback is delivered, also after a restart', () => {
  const run = begin(tell({ url: URL, wait: true }));
  expect(runs.run(run).state).toBe('running');
  record(REFUSED, 503);
  partition.restart(1);
  expect(runs.run(run).state).toBe('running');

  record(0, 200);

  expect(runs.run(run).state).toBe('succeeded');
  isSound();
});

test('a step that waits fails when its callback is given up', () => {
  const run = begin(tell({ url: URL, wait: true }));
  partition.now += 1;
  record(REFUSED, 500);
  partition.now += 24 * 3_600_000;

  record(REFUSED, 500);

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'step_failed' });
  const { result } = partition.task(runs.run(run).steps[0].task);
  expect(testUtf8.decode(Uint8Array.from(result))).toMatch(/the callback was given up: .*500/);
  isSound();
});

test('a cancel of the run leaves the delivery', () => {
  const run = begin(tell({ url: URL, wait: true }));

  runs.cancel(run);

  expect(runs.run(run).state).toBe('cancelled');
  expect(partition.state.outbox.pendingCount).toBe(1);
  record(0, 200);
  expect(runs.run(run).state).toBe('cancelled');
  isSound();
});

test('a step waits while there are too many deliveries', () => {
  partition = new TestPartition({ callbacksMax: 1 });
  runs = new TestRuns(partition);
  begin(tell({ url: URL }));
  const second = runs.begin('flow', { n: 8 });
  expect(runs.run(second).state).toBe('running');

  record(0, 200);
  partition.now += 100;
  partition.advance();

  expect(runs.run(second).state).toBe('succeeded');
});

test.each(['ftp://x', 'https://a:b@c/', 7])('the url %j is refused', (to) => {
  const run = begin(tell({ url: '${workflow.input.to}' }), { to });

  expect(runs.run(run)).toMatchObject({ state: 'failed', reason: 'bad_value' });
  expect(runs.run(run).output).toContain('callback: url must be an address');
});

test.each([
  [tell(undefined), '/tasks/0/callback', 'missing_field'],
  [tell({}), '/tasks/0/callback/url', 'missing_field'],
  [tell({ url: 'x' }), '/tasks/0/callback/url', 'bad_field'],
  [tell({ url: URL, secret: 'short' }), '/tasks/0/callback/secret', 'bad_field'],
  [tell({ url: URL, wait: 1 }), '/tasks/0/callback/wait', 'bad_field'],
])('a definition with %j is refused at %s', (task, path, code) => {
  const { problems = [] } = compileDefinition({ tasks: [task] }, testUtf8);

  expect(problems).toContainEqual({ path, code, message: expect.any(String) });
});
