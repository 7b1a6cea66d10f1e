import { DEFAULT_NAMESPACE, type ResetAfterRestore } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import { HoldStore, Notes, PostgresLog, type StoreAddress } from '@sluice/postgres';
import { LOSS_NOTE } from '@sluice/server/cluster';
import type { ProcessContext } from '../../kernel/process-context.ts';
import { uuidIn } from '../../kernel/process-globals.ts';
import type { SimDatabase } from '../database/sim-database.ts';
import type { ClusterPlan } from '../plan/cluster-plan.ts';
import { partitionOf } from './cluster-host.ts';
import { SimSnapshots } from './sim-snapshots.ts';

interface LossyStore {
  readonly address: StoreAddress;
  readonly database: SimDatabase;
  readonly plan: ClusterPlan;
  readonly context: ProcessContext;
}

/** Further than any number that was lost. */
const SKIPPED = 1_000_000;

/** As `sluice cluster accept-loss` does it. False when a server owns the partition. */
export async function acceptLossOf(store: LossyStore): Promise<boolean> {
  const { address, context } = store;
  const hold = new HoldStore(address, uuidIn(context));
  const seen = await hold.look();
  const isFree = seen.runId === undefined;
  const epoch = isFree || seen.isExpired ? await hold.claim(seen, '', isFree) : undefined;
  if (epoch === undefined) return false;
  try {
    await reset(store, epoch);
  } finally {
    await hold.release(epoch);
  }
  const notes = new Notes(address);
  await notes.write(LOSS_NOTE, uuidIn(context));
  return true;
}

async function reset({ address, database, plan, context }: LossyStore, epoch: number) {
  const { process, random } = context;
  const command = {
    type: 'reset_after_restore',
    namespace: DEFAULT_NAMESPACE,
    leasesSkipped: SKIPPED,
    deliveriesSkipped: SKIPPED,
    by: { actor: 'store', address: '', request: '', subject: 'server', detail: 'loss' },
  } as const;
  const log = await PostgresLog.open({ address, epoch });
  await executeOnce<ResetAfterRestore, void>(
    {
      log,
      snapshots: new SimSnapshots(database),
      partition: partitionOf(plan),
      clock: process.wall,
      nonce: Math.floor(random.next() * 2 ** 53),
    },
    command,
    () => undefined,
  );
  // Rows that the database kept of the lost time must not hide new ones.
  const { tail } = await log.extent();
  database.queryAtOnce('operator', 'UPDATE mark SET position = least(position, $1)', [tail]);
}
