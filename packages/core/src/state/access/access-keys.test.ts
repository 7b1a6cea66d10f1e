import { beforeEach, expect, test } from 'vitest';
import { ACCESS_KEYS_MAX, type CreateAccessKey } from '../../commands/access/create-access-key.ts';
import type { RevokeAccessKey } from '../../commands/access/revoke-access-key.ts';
import type { DiscardDeadLetters } from '../../commands/dead-letters/discard-dead-letters.ts';
import type { EndRedrive, StartRedrive } from '../../commands/dead-letters/redrive-tasks.ts';
import type { PutTaskType } from '../../commands/queues/put-task-type.ts';
import type { SetQueuePaused } from '../../commands/queues/set-queue-paused.ts';
import { TestPartition } from '../../testing/test-partition.ts';

const BY = { actor: 'k_1', address: '192.0.2.7', request: 'q_1', subject: 'it', detail: '' };

let partition: TestPartition;

beforeEach(() => {
  partition = new TestPartition();
  partition.now = 1000;
  expect(create('k_1')).toEqual({});
});

function create(id: string, key: object = {}, more: object = {}) {
  return partition.operate<CreateAccessKey>({
    type: 'create_access_key',
    id,
    hash: `hash of ${id}`,
    key: { namespace: 'default', role: 'admin', name: '', ...key },
    ...more,
  } as never);
}

function revoke(id: string) {
  return partition.operate<RevokeAccessKey>({ type: 'revoke_access_key', id, by: BY });
}

function actions(): string[] {
  const { audit } = partition.state;
  return [...audit.before(audit.next)].map(({ action }) => action);
}

test('a key is what it was made, and survives', () => {
  create('k_2', { namespace: 'shop', role: 'worker', name: 'nightly' }, { expiresInMs: 500 });

  const { state } = partition.restored();

  expect(state.accessKeys.get('k_2')).toEqual({
    id: 'k_2',
    namespace: 'shop',
    role: 'worker',
    name: 'nightly',
    hash: 'hash of k_2',
    createdAt: 1000,
    expiresAt: 1500,
  });
});

test('the first key is that of an admin over everything, since only he can make others', () => {
  partition = new TestPartition();

  expect(create('k_1', { role: 'worker' })).toEqual({ rejection: 'first_key' });
  expect(create('k_1', { namespace: 'shop' })).toEqual({ rejection: 'first_key' });
});

test('the last key of such an admin stays, whatever other keys there are', () => {
  create('k_2', { role: 'operator' });
  create('k_3', { namespace: 'shop' });
  create('k_4', {}, { expiresInMs: 10 });
  partition.now += 10;

  expect(revoke('k_1')).toEqual({ rejection: 'last_admin_key' });
  expect(revoke('k_4')).toEqual({});
  create('k_5');
  expect(revoke('k_1')).toEqual({});
  expect([...partition.state.accessKeys.values()].map(({ id }) => id)).toEqual([
    'k_2',
    'k_3',
    'k_5',
  ]);
});

test('an admin of another namespace sees and makes keys of that one alone', () => {
  create('k_2', { namespace: 'shop' });
  partition.namespace = 'shop';

  expect(create('k_3')).toEqual({ rejection: 'foreign_namespace' });
  expect(create('k_3', { namespace: 'shop', role: 'viewer' })).toEqual({});
  expect(revoke('k_1')).toEqual({ rejection: 'access_key_not_found' });
  expect(revoke('k_3')).toEqual({});
});

test('a key in the place of another is what that one was, and both work for a while', () => {
  create('k_2', { namespace: 'shop', role: 'worker', name: 'nightly' });
  partition.now = 2000;

  create('k_3', {}, { key: { replaces: 'k_2', overlapMs: 300 }, expiresInMs: 9000 });

  const [, old, young] = [...partition.state.accessKeys.values()];
  expect(old).toMatchObject({ id: 'k_2', expiresAt: 2300 });
  expect(young).toMatchObject({ namespace: 'shop', role: 'worker', name: 'nightly' });
  expect(young).toMatchObject({ createdAt: 2000, expiresAt: 11_000 });
});

test('a key that ends before the overlap does is not prolonged by it', () => {
  create('k_2', {}, { expiresInMs: 100 });

  create('k_3', {}, { key: { replaces: 'k_2', overlapMs: 300 } });

  expect(partition.state.accessKeys.get('k_2')?.expiresAt).toBe(1100);
});

test('keys have a bound', () => {
  for (let n = 2; n <= ACCESS_KEYS_MAX; n++) create(`k_${n}`);

  expect(create('k_x')).toEqual({ rejection: 'too_many_access_keys' });
});

test('a change that concerns others is recorded with its author, one of nothing is not', () => {
  const by = BY;
  partition.submit({ type: 'dead', retry: { maxAttempts: 1 } });
  const { session } = partition.attach({ types: ['dead'] });
  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind: 'failed' });
  }
  for (const paused of [true, true, false]) {
    partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'a', paused, by });
  }
  for (const definition of [{ priority: 1 }, { priority: 1 }, undefined, undefined]) {
    partition.operate<PutTaskType>({ type: 'put_task_type', taskType: 'a', definition, by });
  }
  partition.operate<StartRedrive>({ type: 'start_redrive', taskType: 'x', ratePerSec: 1, by });
  for (const redrive of [1, 1]) {
    partition.operate<EndRedrive>({ type: 'end_redrive', redrive, by });
  }
  for (const _ of [1, 2]) {
    partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters', by });
  }
  for (const _ of [1, 2]) partition.drain(session, by);
  create('k_2', {}, { by });
  create('k_2', {}, { by });
  revoke('k_2');

  expect(actions()).toEqual([
    'key_revoked',
    'key_created',
    'worker_drained',
    'dead_letters_discarded',
    'redrive_ended',
    'redrive_started',
    'task_type_removed',
    'task_type_defined',
    'queue_resumed',
    'queue_paused',
  ]);
  const [newest] = partition.restored().state.audit.before(11);
  expect(newest).toEqual({
    number: 10,
    at: 1000,
    namespace: 'default',
    action: 'key_revoked',
    ...BY,
  });
});
