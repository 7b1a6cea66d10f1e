import { expect, test } from 'vitest';
import { NO_SLOT } from '../../base/ids.ts';
import { namespaceOf, queueKey, taskTypeOf } from '../../base/queue-key.ts';
import { findTask } from '../../state/find-task.ts';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { TaskCommand } from '../commands.ts';
import type { DiscardDeadLetters } from '../dead-letters/discard-dead-letters.ts';
import type { StartRedrive } from '../dead-letters/redrive-tasks.ts';
import type { SetQueuePaused } from '../queues/set-queue-paused.ts';
import type { CancelTasks } from '../tasks/cancel-tasks.ts';
import type { EndTask } from '../tasks/end-task.ts';
import type { PatchTasks } from '../tasks/patch-tasks.ts';
import type { PauseTask, ResumeTask } from '../tasks/pause-tasks.ts';
import type { ReadmitTask } from '../tasks/readmit-task.ts';
import type { RetryTasks } from '../tasks/retry-tasks.ts';
import type { SignalTask } from '../tasks/signal-task.ts';

test('a worker gets tasks of its own namespace alone', () => {
  const partition = new TestPartition();
  partition.submit({});
  partition.namespace = 'other';
  partition.submit({});

  const { session } = partition.attach({ slots: 9 });

  expect(partition.heldBy(session)).toEqual([2]);
});

test('another namespace does not find a task', () => {
  const partition = new TestPartition();
  partition.submit({});

  const [own, foreign] = ['default', 'other'].map((namespace) => {
    return findTask(partition.state, namespace, partition.id(1));
  });

  expect([own, foreign]).toEqual([0, NO_SLOT]);
});

const NOTHING = new Uint8Array(0);
const ON_A_TASK: readonly ((id: string) => Omit<TaskCommand, 'now' | 'namespace'>)[] = [
  (id) => ({ type: 'cancel_tasks', ids: [id], graceMs: 0 }) satisfies Timeless<CancelTasks>,
  (id) => ({ type: 'retry_tasks', ids: [id] }) satisfies Timeless<RetryTasks>,
  (id) => ({ type: 'pause_task', id }) satisfies Timeless<PauseTask>,
  (id) => ({ type: 'resume_task', id }) satisfies Timeless<ResumeTask>,
  (id) =>
    ({
      type: 'patch_tasks',
      patches: [{ id, priority: 1 }],
      inputs: NOTHING,
      inputEnds: [0],
    }) satisfies Timeless<PatchTasks>,
  (id) =>
    ({ type: 'end_task', id, outcome: 'failed', payload: NOTHING }) satisfies Timeless<EndTask>,
  (id) => ({ type: 'signal_task', id, name: 'n', data: NOTHING }) satisfies Timeless<SignalTask>,
  (id) =>
    ({
      type: 'readmit_task',
      id,
      state: 7,
      spec: { type: 'hello' },
      input: NOTHING,
    }) satisfies Timeless<ReadmitTask>,
];

type Timeless<C> = C extends TaskCommand ? Omit<C, 'now' | 'namespace'> : never;

test.each(ON_A_TASK.map((make) => [make('').type, make]))(
  '%s does nothing to a task of another namespace',
  (_, make) => {
    const { partition } = leasedTask();
    const before = partition.task(1);
    const id = partition.id(1);
    partition.namespace = 'other';

    const operation = make(id) as Timeless<CancelTasks>;
    const reply = partition.operate<CancelTasks>(operation) as {
      readonly rejection?: string;
      readonly outcomes?: readonly { readonly rejection?: string }[];
    };

    expect(reply.rejection ?? reply.outcomes?.[0].rejection).toBe('task_not_found');
    expect(partition.task(1)).toEqual(before);
  },
);

test('pause of a queue, redrive and discard stay in their namespace', () => {
  const partition = new TestPartition();
  partition.submit({}, {});
  const failed = partition.id(1);
  partition.operate<EndTask>({
    type: 'end_task',
    id: failed,
    outcome: 'failed',
    payload: NOTHING,
  });
  partition.namespace = 'other';

  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'hello', paused: true });
  const all = partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec: 1000 });
  const scope = { type: 'start_redrive', taskType: 'hello', ratePerSec: 1000 } as const;
  const ofType = partition.operate<StartRedrive>(scope);
  passTime(partition, 100);
  const gone = partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters' });
  partition.namespace = 'default';
  const { session } = partition.attach();

  expect([all.count, ofType.count, gone.discarded]).toEqual([0, 0, 0]);
  expect(partition.state.deadLetters.count).toBe(1);
  expect(partition.heldBy(session)).toEqual([2]);
});

test('a session is not known to another namespace: no resume, no report, no detach', () => {
  const { partition, session, lease } = leasedTask();
  partition.namespace = 'other';

  const resumed = partition.resume(session, [lease]);
  const reported = partition.report(session, { lease, kind: 'succeeded' });
  const detached = partition.detach(session);

  expect(resumed).toMatchObject({ rejection: 'session_not_found', session: '' });
  expect(reported).toEqual({ found: false, outcomes: ['stale_lease'] });
  expect(detached).toBe(false);
  expect(partition.task(1).state).toBe('leased');
});

test('a session that comes back after a restart is still of its namespace', () => {
  const partition = new TestPartition();
  partition.namespace = 'other';
  partition.submit({});
  const { session } = partition.attach();
  const leases = partition.leasesOf(session);
  partition.restart();
  partition.namespace = 'default';
  const foreign = partition.resume(session, leases).rejection;
  partition.namespace = 'other';

  const own = partition.resume(session, leases);

  expect(foreign).toBe('session_not_found');
  expect(own).toMatchObject({ resumed: true, lost: [] });
});

test('a key names namespace and type, and the default namespace costs nothing', () => {
  expect(queueKey('default', 'hello')).toBe('hello');
  expect(queueKey('team', 'hello')).toBe('team/hello');
  for (const namespace of ['default', 'team']) {
    const key = queueKey(namespace, 'a.b:c');
    expect([namespaceOf(key), taskTypeOf(key)]).toEqual([namespace, 'a.b:c']);
  }
});
