import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { describeState } from '../../testing/describe-state.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import { compileDefinition } from '../../workflow/compile.ts';
import { RUN_DELIVERIES } from '../../workflow/program.ts';
import type { RecordDelivery } from '../callbacks/record-delivery.ts';

const URL = 'https://example.com/hook';
const TASKS = [{ name: 'a', taskReferenceName: 'a' }];

let partition: TestPartition;
let session: SessionId;
let runs: TestRuns;

beforeEach(() => use(new TestPartition({ finishedTasksMax: 10 })));

function use(next: TestPartition): void {
  partition = next;
  runs = new TestRuns(partition);
  session = partition.attach({ types: ['a'], slots: 10 }).session as SessionId;
}

function begin(callback: object): number {
  runs.register('flow', { tasks: TASKS, callback });
  return runs.begin('flow');
}

function end(kind: 'succeeded' | 'failed'): void {
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind, payload: '{}', retryable: false });
}

function owed() {
  return [...partition.state.outbox.pending()].map(({ task, state, callback }) => ({
    task,
    state: TASK_STATES[state],
    ...partition.state.texts.callback.at(callback),
  }));
}

function isSound(): void {
  expect(stateProblems(partition.state)).toEqual([]);
  expect(describeState(partition.replayed().state)).toEqual(describeState(partition.state));
}

test('each end of a run that is asked for owes a delivery, also after a retry', () => {
  const run = begin({ url: URL });
  expect(owed()).toEqual([]);

  end('failed');
  expect(partition.deliveries).toEqual([1]);
  runs.revive(run, 'retry');
  end('succeeded');

  expect(owed()).toMatchObject([
    { task: run, state: 'failed', url: URL },
    { task: run, state: 'succeeded' },
  ]);
  partition.restart(1);
  expect(owed()).toHaveLength(2);
  isSound();
});

test('an end that nobody asked for owes nothing', () => {
  begin({ url: URL, on: ['failed', 'cancelled'] });
  end('succeeded');
  expect(owed()).toEqual([]);

  runs.cancel(runs.begin('flow'));
  end('succeeded');

  expect(owed()).toMatchObject([{ state: 'cancelled' }]);
  isSound();
});

test('a delivery outlives its run, and leaves nothing behind', () => {
  use(new TestPartition({ finishedTasksMax: 0 }));
  const run = begin({ url: URL, secret: `whsec_${'A'.repeat(32)}` });
  end('succeeded');
  partition.submit({});
  expect(partition.state.runs.table.find(run as never)).toBe(-1);

  partition.operate<RecordDelivery>({
    type: 'record_delivery',
    delivery: 1,
    failure: 0,
    status: 200,
    durationMs: 1,
    seed: 1,
  });

  expect(owed()).toEqual([]);
  expect(partition.state.texts.callback.size).toBe(1);
  expect(partition.state.queueOf(queueKey('default', RUN_DELIVERIES))).toBeUndefined();
  isSound();
});

test('while too many deliveries are pending, runs that would owe one are refused', () => {
  use(new TestPartition({ callbacksMax: 1 }));
  begin({ url: URL });
  end('succeeded');

  expect(runs.start('flow').rejection).toBe('too_many_callbacks');
  runs.register('quiet', { tasks: TASKS });
  expect(runs.start('quiet').rejection).toBeUndefined();
});

test.each([
  [7, '/callback', 'bad_field'],
  [{}, '/callback/url', 'missing_field'],
  [{ url: 'ftp://x' }, '/callback/url', 'bad_field'],
  [{ url: '${workflow.input.url}' }, '/callback/url', 'bad_field'],
  [{ url: URL, secret: 'short' }, '/callback/secret', 'bad_field'],
  [{ url: URL, on: [] }, '/callback/on', 'bad_field'],
  [{ url: URL, on: ['running'] }, '/callback/on', 'bad_field'],
  [{ url: URL, on: 'failed' }, '/callback/on', 'bad_field'],
])('the callback %j is refused', (callback, path, code) => {
  const { problems } = compileDefinition({ tasks: TASKS, callback }, testUtf8);
  expect(problems).toMatchObject([{ path, code }]);
});
