import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** How far the projection has come. */
export interface ProjectionMark {
  /** The first record that it does not have. */
  readonly position: number;
  /** The time of the last record that it has. */
  readonly at: number;
}

const START: ProjectionMark = { position: 0, at: 0 };

/** Its name in the folder of the projection. */
export const MARK_FILE = 'mark.sqlite';

/** The mark behind which nothing has to be read again, on the disk. */
export class MarkFile {
  private readonly db: DatabaseSync;

  constructor(folder: string) {
    this.db = new DatabaseSync(join(folder, MARK_FILE));
    this.db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS mark (id INTEGER PRIMARY KEY, position INTEGER, at INTEGER);
    `);
  }

  read(): ProjectionMark {
    const row = this.db.prepare('SELECT position, at FROM mark').get();
    return row === undefined ? START : (row as unknown as ProjectionMark);
  }

  write({ position, at }: ProjectionMark): void {
    this.db.prepare('INSERT OR REPLACE INTO mark VALUES (1, ?, ?)').run(position, at);
  }

  close(): void {
    this.db.close();
  }
}
