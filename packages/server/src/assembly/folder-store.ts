import { join } from 'node:path';
import { FileLog, FileSnapshots } from '@sluice/log';
import { removeStaged } from '../backup/backup-files.ts';
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts';
import { type Note, NoteFile } from '../base/note-file.ts';
import { type TaskLines, TaskLogs } from '../logs/task-logs.ts';
import type { ServerStore, StoreLog, StoreSnapshots } from './server-store.ts';

interface FolderStoreOptions {
  readonly dataFolder: string;
  readonly segmentBytes?: number | undefined;
}

/** Everything in one data folder. */
export class FolderStore implements ServerStore {
  readonly engine = 'file';
  readonly folder: string;
  readonly keyHint: string;
  readonly rows: ServerStore['rows'];
  readonly blobShelf = undefined;
  private readonly segmentBytes: number | undefined;

  constructor({ dataFolder, segmentBytes }: FolderStoreOptions) {
    this.folder = dataFolder;
    this.keyHint = `--data ${dataFolder}`;
    this.rows = { folder: join(dataFolder, 'projection') };
    this.segmentBytes = segmentBytes;
  }

  async openLog(): Promise<StoreLog> {
    refuseUnfinishedRestore(this.folder);
    const { segmentBytes } = this;
    const size = segmentBytes === undefined ? {} : { segmentBytes };
    const log = await FileLog.open({ folder: join(this.folder, 'log'), ...size });
    return { log, extent: log.extent, files: log };
  }

  async openSnapshots(): Promise<StoreSnapshots> {
    const snapshotFolder = join(this.folder, 'snapshots');
    const source = { logFolder: join(this.folder, 'log'), snapshotFolder };
    const store = await FileSnapshots.open(snapshotFolder);
    return { store, source, close: async () => undefined };
  }

  tidy(): Promise<void> {
    return removeStaged(this.folder);
  }

  openTaskLogs(ageMs: number): Promise<TaskLines> {
    return TaskLogs.open({ folder: join(this.folder, 'task-logs'), ageMs });
  }

  note(name: string): Note {
    return new NoteFile(join(this.folder, name));
  }

  async close(): Promise<void> {}
}
