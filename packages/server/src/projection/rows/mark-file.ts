import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { ProjectedProgram } from '../runs/run-record.ts';
import { isUnusable, OtherSchemaError, openDatabase, setAside } from './database-file.ts';

/** How far the projection has read the log. */
export interface ProjectionMark {
  /** The first record that it has not read. */
  readonly position: number;
  /** The time of the last record that it has read. */
  readonly at: number;
}

/** The mark on the disk. */
export interface SavedMark extends ProjectionMark {
  /** Tasks that were submitted before this record are rebuilt, whatever their rows contain. */
  readonly rebuildTo: number;
}

const START: SavedMark = { position: 0, at: 0, rebuildTo: 0 };

/** Its name in the folder of the projection. */
export const MARK_FILE = 'mark.sqlite';

export interface MarkNotice {
  readonly type: 'mark_set_aside' | 'mark_of_other_version';
  readonly file: string;
  readonly why: string;
}

export const MARK_ROW = 'SELECT position, at, rebuild_to AS rebuildTo FROM mark';

export const MARK_FORM = {
  pragmas: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;',
  schema: `CREATE TABLE IF NOT EXISTS mark (
    id INTEGER PRIMARY KEY, position INTEGER NOT NULL, at INTEGER NOT NULL,
    rebuild_to INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS programs (place INTEGER PRIMARY KEY, program TEXT NOT NULL)`,
  version: 1,
  probe: MARK_ROW,
};

/**
 * The durable mark: records before it need not be read again.
 *
 * A damaged file is set aside, and the mark starts at the first record again. Rows know how much of
 * the log they have seen, so reading it again does not change them.
 */
export class MarkFile {
  private readonly path: string;
  private readonly notify: (notice: MarkNotice) => void;
  private db: DatabaseSync;

  constructor(folder: string, notify: (notice: MarkNotice) => void = () => undefined) {
    this.path = join(folder, MARK_FILE);
    this.notify = notify;
    try {
      this.db = openDatabase(this.path, MARK_FORM);
    } catch (cause) {
      this.db = this.replaced(cause);
    }
  }

  read(): SavedMark {
    return this.guarded((db) => {
      const row = db.prepare(MARK_ROW).get();
      return row === undefined ? START : (row as unknown as SavedMark);
    });
  }

  /** Saves the mark and the definitions that came before it, both or none. */
  write({ position, at, rebuildTo }: SavedMark, programs: readonly ProjectedProgram[] = []): void {
    this.guarded((db) => {
      const mark = db.prepare('INSERT OR REPLACE INTO mark VALUES (1, ?, ?, ?)');
      if (programs.length === 0) {
        mark.run(position, at, rebuildTo);
        return;
      }
      db.exec('BEGIN IMMEDIATE');
      try {
        const put = db.prepare('INSERT OR REPLACE INTO programs VALUES (?, ?)');
        for (const program of programs) put.run(program.place, JSON.stringify(program));
        mark.run(position, at, rebuildTo);
        db.exec('COMMIT');
      } catch (cause) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw cause;
      }
    });
  }

  /** The definitions at the mark. */
  programs(): ProjectedProgram[] {
    return this.guarded((db) => {
      const rows = db.prepare('SELECT program FROM programs').all();
      return rows.map(({ program }) => JSON.parse(program as string) as ProjectedProgram);
    });
  }

  close(): void {
    this.db.close();
  }

  private guarded<T>(use: (db: DatabaseSync) => T): T {
    try {
      return use(this.db);
    } catch (cause) {
      if (!isUnusable(cause)) throw cause;
      this.db.close();
      this.db = this.replaced(cause);
      return use(this.db);
    }
  }

  private replaced(cause: unknown): DatabaseSync {
    if (!isUnusable(cause)) throw cause;
    const file = setAside(this.path, cause);
    const isOther = cause instanceof OtherSchemaError;
    const type = isOther ? 'mark_of_other_version' : 'mark_set_aside';
    this.notify({ type, file, why: (cause as Error).message });
    return openDatabase(this.path, MARK_FORM);
  }
}
