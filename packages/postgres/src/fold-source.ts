/** What the process of a fold loads when log and snapshots are in PostgreSQL. */
import { type CommittedRange, type SnapshotStore, STOP_READING } from '@sluice/log';
import { PostgresLog } from './log/postgres-log.ts';
import {
  PostgresSnapshots,
  type PostgresSnapshotsOptions,
} from './snapshots/postgres-snapshots.ts';

interface FoldSource {
  readonly snapshots: SnapshotStore;
  readLog(range: CommittedRange): Promise<void>;
}

/** The connections end with the process. */
export async function openFoldSource(options: PostgresSnapshotsOptions): Promise<FoldSource> {
  const log = await PostgresLog.open({ address: options.address });
  return {
    snapshots: await PostgresSnapshots.open(options),
    readLog: ({ from, upTo, onBatch }) =>
      log.read(from, (batch) => (batch.firstRecord < upTo ? onBatch(batch) : STOP_READING)),
  };
}
