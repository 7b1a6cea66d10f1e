import { randomUUID } from 'node:crypto';
import { DEFAULT_NAMESPACE, type ResetAfterRestore } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import { limitMark, Notes, type StoreAddress } from '@sluice/postgres';
import { skippedNumbers } from '../backup/skipped-numbers.ts';
import { UTF8 } from '../base/utf8.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';
import { withFreeStore } from './free-store.ts';

/** Changes each time somebody accepts a loss. Servers that have halted look at it. */
export const LOSS_NOTE = 'loss-accepted';

export interface AcceptedLoss {
  /** Tasks whose leases ended: a worker may still run them. */
  readonly returned: number;
  readonly tasks: number;
}

export interface LossyStore extends LimitSettings {
  readonly address: StoreAddress;
  readonly partition: number;
}

/**
 * The database went back in time, and an operator accepts that what it lost stays lost. Leases and
 * deliveries of the lost time are fenced out, as after a restore.
 */
export async function acceptLoss(store: LossyStore): Promise<AcceptedLoss> {
  const { address, partition, limits, quotas } = store;
  const by = { actor: 'store', address: '', request: '', subject: 'server', detail: 'loss' };
  const instead = 'stop it first, or wait until it has halted';
  const accepted = await withFreeStore(address, instead, ({ log, snapshots }) =>
    executeOnce<ResetAfterRestore, AcceptedLoss>(
      {
        ...{ log, snapshots },
        partition: { partition, limits: partitionLimits({ limits, quotas }), utf8: UTF8 },
        clock: Date.now,
        nonce: Math.floor(Math.random() * 2 ** 53),
      },
      {
        type: 'reset_after_restore',
        namespace: DEFAULT_NAMESPACE,
        ...skippedNumbers(),
        by,
      },
      ({ returned }, state) => ({ returned, tasks: state.tasks.count }),
    ),
  );
  // Rows that the database kept of the lost time must not hide new ones.
  await limitMark(address);
  const notes = new Notes(address);
  await notes.write(LOSS_NOTE, randomUUID());
  await notes.close();
  return accepted;
}
