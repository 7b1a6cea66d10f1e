import type { FoldProcessOptions } from '@sluice/engine';
import type { BoundedLog, FileLog, LogExtent, SnapshotStore } from '@sluice/log';
import type { Note } from '../base/note-file.ts';
import type { BlobShelf } from '../blobs/blob-store.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import type { ThreadData } from '../projection/projection-messages.ts';

export interface StoreLog {
  readonly log: BoundedLog;
  /** What the log holds, when no other process can change it. */
  readonly extent?: LogExtent;
  /** Absent when the log is not in files. */
  readonly files?: Pick<FileLog, 'hold'>;
}

export interface StoreSnapshots {
  readonly store: SnapshotStore;
  /** For the process that folds. */
  readonly source: FoldProcessOptions['source'];
  close(): Promise<void>;
}

/** Where a server keeps everything that outlives it: a folder, or a database. */
export interface ServerStore {
  readonly engine: 'file' | 'postgres';
  /** The folder of everything, or of what nobody needs after the process. */
  readonly folder: string;
  /** What to do when a server that others can reach has no key. */
  readonly keyHint: string;
  openLog(): Promise<StoreLog>;
  openSnapshots(): Promise<StoreSnapshots>;
  /** Where the projection's thread finds its rows. */
  readonly rows: Pick<ThreadData, 'folder' | 'store'>;
  /** Tells what an earlier process left from what is needed. */
  tidy(): Promise<void>;
  openTaskLogs(ageMs: number): Promise<TaskLines>;
  /** Undefined when blobs are files of the folder. */
  readonly blobShelf: BlobShelf | undefined;
  note(name: string): Note;
  /** Closes what was not opened by one of the calls above. */
  close(): Promise<void>;
}
