import { beforeEach, expect, test } from 'vitest';
import { parseLeaseToken } from '../../base/lease-token.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { CancelTasks } from '../tasks/cancel-tasks.ts';
import type { RecordBackup } from './record-backup.ts';
import type { ResetAfterRestore } from './reset-after-restore.ts';

const BY = { actor: 'k_1', address: '192.0.2.7', request: 'q_1', subject: 'it', detail: '' };

let partition: TestPartition;

beforeEach(() => {
  partition = new TestPartition();
});

function resetAfterRestore() {
  return partition.operate<ResetAfterRestore>({
    type: 'reset_after_restore',
    leasesSkipped: 1000,
    deliveriesSkipped: 2 ** 30,
    by: BY,
  });
}

test('what workers held is queued again, in the order in which it was leased, at no cost', () => {
  const [first, second] = [partition.attach({ slots: 1 }), partition.attach({ slots: 1 })];
  partition.submit({}, {}, {});
  partition.restart();
  partition.now += 1;

  const reply = resetAfterRestore();

  expect(reply).toEqual({ returned: 2, upTo: partition.now - 1 });
  expect(partition.task(1)).toMatchObject({ state: 'queued', attempt: 0, reason: 'not_arrived' });
  for (const { session } of [first, second]) expect(partition.heldBy(session)).toEqual([]);
  const { session } = partition.attach({ slots: 3 });
  expect(partition.heldBy(session)).toEqual([1, 2, 3]);
});

test('a report by a lease of before is stale, also when its session gets the same task', () => {
  const { session } = partition.attach({ slots: 1 });
  partition.submit({});
  const [lease] = partition.leasesOf(session);
  partition.restart();
  resetAfterRestore();
  const { lost } = partition.resume(session, [lease], { slots: 1 });

  partition.report(session, { lease, kind: 'succeeded' });

  expect(lost).toEqual([lease]);
  expect(partition.task(1)).toMatchObject({ state: 'leased' });
  expect(partition.leasesOf(session)).not.toContain(lease);
});

test('leases have numbers that the life before the copy does not give after it', () => {
  partition.attach({ slots: 2 });
  partition.submit({});
  const copy = partition.restored().state.nextLease;
  partition.restart();
  resetAfterRestore();

  const { session } = partition.attach({ slots: 2 });

  const numbers = partition.leasesOf(session).map((lease) => parseLeaseToken(lease)?.number);
  expect(numbers).toEqual([copy + 1000]);
});

test('deliveries have numbers that the life before the copy does not give after it', () => {
  const callback = { url: 'https://example.com/', on: ['cancelled'] };
  partition.submit({ callback }, { callback });
  const cancel = (number: number) => {
    const ids = [partition.id(number)];
    partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
  };
  cancel(1);
  partition.restart();
  resetAfterRestore();
  cancel(2);

  const numbers = [...partition.restored().state.outbox.pending()].map(({ number }) => number);
  // A pending delivery keeps its id: it is the same message.
  expect(numbers).toEqual([1, 2 + 2 ** 30]);
  expect([...partition.replayed().state.outbox.pending()]).toHaveLength(2);
});

test('a task that was to be cancelled is', () => {
  const { session } = partition.attach({ slots: 1 });
  partition.submit({});
  const ids = [partition.id(1)];
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 10_000 });
  expect(partition.heldBy(session)).toEqual([1]);
  partition.restart();

  resetAfterRestore();

  expect(partition.task(1)).toMatchObject({ state: 'cancelled' });
});

test('both stand in the record of changes, which survives', () => {
  partition.operate<RecordBackup>({ type: 'record_backup', by: BY });
  resetAfterRestore();

  const { audit } = partition.restored().state;

  expect([...audit.before(audit.next)].map(({ action }) => action)).toEqual([
    'restored',
    'backup_taken',
  ]);
});
