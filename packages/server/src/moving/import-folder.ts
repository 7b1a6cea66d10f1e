import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileLog, FileSnapshots } from '@sluice/log';
import {
  BlobRows,
  beginImport,
  checkStoreAt,
  endImport,
  LineCopies,
  Notes,
  PostgresLog,
  PostgresSnapshots,
  type StoreAddress,
} from '@sluice/postgres';
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts';
import { NoteFile } from '../base/note-file.ts';
import { STARTS_NOTE, STATS_NOTE } from '../base/note-names.ts';
import { BlobFiles } from '../blobs/blob-files.ts';
import { copyBlobs } from './copy-blobs.ts';
import { copyLinesToStore } from './copy-lines.ts';
import { copyLog, copySnapshots } from './copy-log.ts';
import { copyRowsToStore } from './copy-rows.ts';
import { type Moved, type MoveOrder, MoveProgress } from './moved-data.ts';

import {
  compareStates,
  type RecoveredState,
  type RestingSide,
  recoverState,
} from './recovered-state.ts';
import { StoreClaim } from './store-claim.ts';

export interface StoreMoveOrder extends MoveOrder {
  readonly address: StoreAddress;
}

export interface MoveResult extends Moved {
  /** Tasks in memory, finished or not. */
  readonly tasks: number;
}

const INCOMPLETE =
  'the store is incomplete, and no server starts on it until the same command has succeeded';

/**
 * Copies everything of a stopped embedded server into an empty store, and compares the states that
 * both lead to. The folder stays as it is.
 *
 * From its first write to its end the store has a mark, and no server starts on it. An import that
 * was killed or has failed is repeated: it removes what the earlier one left.
 */
export async function importFolder(order: StoreMoveOrder): Promise<MoveResult> {
  const { dataFolder, address } = order;
  if (!existsSync(join(dataFolder, 'log'))) {
    throw new Error(`'${dataFolder}' has no data of a server; see --from`);
  }
  refuseUnfinishedRestore(dataFolder);
  await checkStoreAt(address);
  // The open log keeps servers from starting on the folder meanwhile.
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const snapshots = await FileSnapshots.open(join(dataFolder, 'snapshots'));
    return await importFrom({ log, extent: log.extent, snapshots }, order);
  } finally {
    await log.close();
  }
}

async function importFrom(source: RestingSide, order: StoreMoveOrder): Promise<MoveResult> {
  const { address, dataFolder, onProgress } = order;
  const progress = new MoveProgress({ onProgress });
  // A folder that no server could start on is refused before anything is written.
  const state = await recoverState(source, order);
  const claim = await StoreClaim.take(address);
  try {
    const { epoch } = claim;
    await beginImport(address, { epoch, from: dataFolder, firstRecord: source.extent.first });
    try {
      await copyPartition(source, state, { order, epoch, progress });
      await copyRest(order, progress);
      await claim.check();
      await endImport(address, epoch);
    } catch (cause) {
      throw new Error(`${(cause as Error).message}; ${INCOMPLETE}`, { cause });
    }
    return { ...progress.moved, tasks: state.tasks };
  } finally {
    await claim.release();
  }
}

interface PartitionCopy {
  readonly order: StoreMoveOrder;
  readonly epoch: number;
  readonly progress: MoveProgress;
}

/** Snapshots come first: the log may begin behind them. */
async function copyPartition(
  source: RestingSide,
  state: RecoveredState,
  { order, epoch, progress }: PartitionCopy,
): Promise<void> {
  const { address, scratchFolder } = order;
  const log = await PostgresLog.open({ address, epoch, isImporting: true });
  const scratch = { address, scratchFolder: join(scratchFolder, 'snapshots') };
  const snapshots = await PostgresSnapshots.open(scratch);
  try {
    await copySnapshots(source.snapshots, snapshots, { upTo: state.position, progress });
    await copyLog(source, log, progress);
    progress.add('comparing');
    const copy = { log, extent: await log.extent(), snapshots };
    compareStates(state, await recoverState(copy, order));
  } finally {
    await log.close();
    await snapshots.close();
  }
}

async function copyRest(order: StoreMoveOrder, progress: MoveProgress): Promise<void> {
  const { address, dataFolder, scratchFolder, onLeftOut } = order;
  const folder = join(dataFolder, 'projection');
  await copyRowsToStore({ folder, address, progress, onLeftOut });
  const shelf = new BlobRows({ address, scratchFolder: join(scratchFolder, 'blobs') });
  const lines = new LineCopies(address);
  const notes = new Notes(address);
  try {
    await copyBlobs(new BlobFiles(join(dataFolder, 'blobs')), shelf, progress);
    await copyLinesToStore(join(dataFolder, 'task-logs'), lines, progress);
    for (const name of [STARTS_NOTE, STATS_NOTE]) {
      const text = await new NoteFile(join(dataFolder, name)).read();
      if (text !== undefined) await notes.write(name, text);
    }
  } finally {
    await shelf.close();
    await lines.close();
    await notes.close();
  }
}
