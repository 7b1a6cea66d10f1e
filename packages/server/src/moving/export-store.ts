import { join } from 'node:path';
import { FileLog, FileSnapshots } from '@sluice/log';
import {
  BlobRows,
  checkStoreAt,
  LineCopies,
  Notes,
  PostgresLog,
  PostgresSnapshots,
} from '@sluice/postgres';
import { claimFolder, completeFolder, emptyFolder } from '../backup/unfinished-restore.ts';
import { NoteFile } from '../base/note-file.ts';
import { STARTS_NOTE, STATS_NOTE } from '../base/note-names.ts';
import { BlobFiles } from '../blobs/blob-files.ts';
import { copyBlobs } from './copy-blobs.ts';
import { copyLinesToFolder } from './copy-lines.ts';
import { copyLog, copySnapshots } from './copy-log.ts';
import { copyRowsToFolder } from './copy-rows.ts';
import type { MoveResult, StoreMoveOrder } from './import-folder.ts';
import { MoveProgress } from './moved-data.ts';
import { compareStates, type RestingSide, recoverState } from './recovered-state.ts';
import { StoreClaim } from './store-claim.ts';

/**
 * Copies everything of a store whose servers are stopped into an empty data folder, and compares
 * the states that both lead to. Of the store only the epoch changes.
 *
 * An export that fails leaves an empty folder. One that is killed leaves a folder with a mark, and
 * no server starts on it.
 */
export async function exportStore(order: StoreMoveOrder): Promise<MoveResult> {
  const { address, dataFolder, scratchFolder } = order;
  await checkStoreAt(address);
  const claim = await StoreClaim.take(address);
  try {
    const log = await PostgresLog.open({ address, epoch: claim.epoch });
    const scratch = { address, scratchFolder: join(scratchFolder, 'snapshots') };
    const snapshots = await PostgresSnapshots.open(scratch);
    try {
      await claimFolder(dataFolder, 'export');
      const source = { log, extent: await log.extent(), snapshots };
      return await fill(order, source, claim).catch(async (cause: Error) => {
        await emptyFolder(dataFolder);
        throw cause;
      });
    } finally {
      await log.close();
      await snapshots.close();
    }
  } finally {
    await claim.release();
  }
}

async function fill(
  order: StoreMoveOrder,
  source: RestingSide,
  claim: StoreClaim,
): Promise<MoveResult> {
  const { dataFolder, onProgress } = order;
  const progress = new MoveProgress({ onProgress });
  const state = await recoverState(source, order);
  const snapshots = await FileSnapshots.open(join(dataFolder, 'snapshots'));
  await copySnapshots(source.snapshots, snapshots, { upTo: state.position, progress });
  const folder = join(dataFolder, 'log');
  const log = await FileLog.open({ folder, firstRecord: source.extent.first });
  try {
    await copyLog(source, log, progress);
  } finally {
    await log.close();
  }
  await copyRest(order, progress);
  progress.add('comparing');
  await compareFolder(order, state);
  await claim.check();
  await completeFolder(dataFolder);
  return { ...progress.moved, tasks: state.tasks };
}

async function copyRest(order: StoreMoveOrder, progress: MoveProgress): Promise<void> {
  const { address, dataFolder, scratchFolder, onLeftOut } = order;
  const folder = join(dataFolder, 'projection');
  await copyRowsToFolder({ folder, address, progress, onLeftOut });
  const shelf = new BlobRows({ address, scratchFolder: join(scratchFolder, 'blobs') });
  const lines = new LineCopies(address);
  const notes = new Notes(address);
  try {
    await copyBlobs(shelf, new BlobFiles(join(dataFolder, 'blobs')), progress);
    await copyLinesToFolder(lines, join(dataFolder, 'task-logs'), progress);
    for (const name of [STARTS_NOTE, STATS_NOTE]) {
      const text = await notes.read(name);
      if (text !== undefined) await new NoteFile(join(dataFolder, name)).write(text);
    }
  } finally {
    await shelf.close();
    await lines.close();
    await notes.close();
  }
}

/** Reads the files as a server does when it starts. */
async function compareFolder(
  order: StoreMoveOrder,
  state: Awaited<ReturnType<typeof recoverState>>,
): Promise<void> {
  const log = await FileLog.open({ folder: join(order.dataFolder, 'log') });
  try {
    const snapshots = await FileSnapshots.open(join(order.dataFolder, 'snapshots'));
    compareStates(state, await recoverState({ log, extent: log.extent, snapshots }, order));
  } finally {
    await log.close();
  }
}
