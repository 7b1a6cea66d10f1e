import { expect, test } from 'vitest';
import { LEASE_MS, TestPartition } from '../../testing/test-partition.ts';

test('a server that did not listen for a while gives every session its whole lease again', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  partition.now += 10 * LEASE_MS;

  partition.hear();
  partition.now += LEASE_MS - 1;
  partition.expire();
  expect(partition.heldBy(session)).toEqual([1]);

  partition.now += 1;
  partition.expire();
  expect(partition.heldBy(session)).toEqual([]);
});

test('a lost session that only heartbeats is not found', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  partition.now += LEASE_MS;

  partition.expire();

  expect(partition.report(session)).toEqual({ found: false, outcomes: [] });
});

test('a worker that does not read gets no more until it has caught up', () => {
  const partition = new TestPartition({ unsentBytesMax: 3000 });
  const { session, connection } = partition.attach({ slots: 50 });
  for (let i = 0; i < 10; i++) partition.submit({ input: 'x'.repeat(744) });
  expect(partition.heldBy(session)).toHaveLength(3);

  partition.read(session, connection, 2000);

  expect(partition.heldBy(session)).toHaveLength(5);
});
