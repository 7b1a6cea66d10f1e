/** What a projector is made of, takes and tells. */
import type { DayFiles, FileNotice, Retention } from './rows/day-files.ts';
import type { MarkFile, MarkNotice } from './rows/mark-file.ts';

export interface ProjectedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** Where the rows are stored; the simulator has another implementation. */
export type RowStore = Pick<
  DayFiles,
  'bytes' | 'newest' | 'write' | 'read' | 'readAhead' | 'find' | 'names' | 'retain' | 'close'
>;

export type MarkStore = Pick<MarkFile, 'read' | 'write' | 'programs' | 'close'>;

interface ProjectorHabits {
  readonly retention: Retention;
  /** An open task is written after this time; tests wait less. */
  readonly openMsMax?: number | undefined;
}

export type ProjectorNotice =
  | FileNotice
  | MarkNotice
  | { readonly type: 'record_not_shown'; readonly task: number; readonly why: string }
  /** An event about one or more tasks is missing from the rows. */
  | {
      readonly type: 'event_left_out';
      readonly record: number;
      /** Number of the task; 0 when it is not known. */
      readonly task: number;
      readonly why: string;
    };

export interface ProjectorOptions extends ProjectorHabits {
  readonly folder: string;
  readonly notify: (notice: ProjectorNotice) => void;
}

export interface ProjectorParts extends ProjectorHabits {
  readonly files: RowStore;
  readonly markFile: MarkStore;
  /** Without it an event that cannot be applied is an error, which ends a simulation. */
  readonly notify?: (notice: ProjectorNotice) => void;
}
