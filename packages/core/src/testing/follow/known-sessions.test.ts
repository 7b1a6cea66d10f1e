import { expect, test } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../base/queue-key.ts';
import { TestPartition } from '../test-partition.ts';
import { KnownSessions } from './known-sessions.ts';

test('who holds something after a restart is known, and stays drained when it comes back', () => {
  const partition = new TestPartition();
  const { session, connection } = partition.attach();
  partition.submit({});
  const known = new KnownSessions();
  const moment = { state: partition.state, now: partition.now };
  const from = { namespace: DEFAULT_NAMESPACE, now: partition.now };

  known.restart(partition.state);
  known.follow({ type: 'drain_session', ...from, session }, { found: true }, moment);
  known.follow(
    {
      type: 'attach_session',
      ...from,
      newSession: session,
      worker: 'worker',
      version: '1',
      types: [{ type: 'hello' }],
      capacity: { slots: 4 },
      labels: new Map(),
      leaseMs: 5000,
    },
    { session, connection, resumed: true, lost: [] },
    moment,
  );

  expect(known.sessions.get(session)).toMatchObject({ connected: true, draining: true });
});
