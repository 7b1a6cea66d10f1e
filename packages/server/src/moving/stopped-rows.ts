/**
 * The rows of a server that does not run, read without changing its files: a damaged file is
 * refused here, while a server would set it aside.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rowId } from '../projection/rows/day-file.ts';
import { DAY_NAME, DAYS_FOLDER, KEPT } from '../projection/rows/day-names.ts';
import { FORM, READ } from '../projection/rows/day-schema.ts';
import { MARK_FILE, MARK_FORM, MARK_ROW, type SavedMark } from '../projection/rows/mark-file.ts';
import { type StoredRecord, type StoredRow, unpackRow } from '../projection/rows/stored-row.ts';
import type { ProjectedProgram } from '../projection/runs/run-record.ts';
import type { MoveOrder } from './moved-data.ts';

/** Rows, and characters of their texts, that are in memory at a time. */
const SLICE_ROWS = 256;
const SLICE_CHARACTERS = 4 * 2 ** 20;

export interface SavedProgress {
  readonly mark: SavedMark;
  readonly programs: readonly ProjectedProgram[];
}

export class StoppedRows {
  private readonly folder: string;
  private readonly onLeftOut: MoveOrder['onLeftOut'];

  constructor(folder: string, onLeftOut: MoveOrder['onLeftOut']) {
    this.folder = folder;
    this.onLeftOut = onLeftOut;
  }

  /** Names of the days that have a file, and of the file of kept tasks. */
  days(): string[] {
    const folder = join(this.folder, DAYS_FOLDER);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const days = names.flatMap((name) => DAY_NAME.exec(name)?.[1] ?? []).sort();
    return names.includes(`${KEPT}.sqlite`) ? [KEPT, ...days] : days;
  }

  /** The rows of a day in slices, in the order of their numbers. */
  *slices(day: string): Generator<StoredRecord[]> {
    const path = join(this.folder, DAYS_FOLDER, `${day}.sqlite`);
    const db = openFile(path, FORM.version);
    try {
      let slice: StoredRecord[] = [];
      let characters = 0;
      const rows = db.prepare(`${READ} ORDER BY number`).iterate(0, Number.MAX_SAFE_INTEGER);
      for (const row of rows as Iterable<unknown> as Iterable<StoredRow>) {
        slice.push(...this.unpacked(row));
        characters += row.input.length + row.result.length + row.body.length;
        if (slice.length < SLICE_ROWS && characters < SLICE_CHARACTERS) continue;
        yield slice;
        [slice, characters] = [[], 0];
      }
      if (slice.length > 0) yield slice;
    } catch (cause) {
      throw explained(path, cause);
    } finally {
      db.close();
    }
  }

  /** Undefined when the projection never saved anything. */
  saved(): SavedProgress | undefined {
    const path = join(this.folder, MARK_FILE);
    if (!existsSync(path)) return undefined;
    const db = openFile(path, MARK_FORM.version);
    try {
      const mark = db.prepare(MARK_ROW).get() as unknown as SavedMark | undefined;
      const programs = db.prepare('SELECT program FROM programs').all();
      return (
        mark && {
          mark: { ...mark },
          programs: programs.map(({ program }) => JSON.parse(program as string)),
        }
      );
    } catch (cause) {
      throw explained(path, cause);
    } finally {
      db.close();
    }
  }

  private unpacked(row: StoredRow): StoredRecord[] {
    try {
      return [unpackRow(row)];
    } catch (cause) {
      this.onLeftOut(rowId(row.number, row.submittedAt), (cause as Error).message);
      return [];
    }
  }
}

/** Rejects a file of another form: its rows would be missing without a word. */
function openFile(path: string, version: number): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    const found = db.prepare('PRAGMA user_version').get()?.user_version;
    if (found === version) return db;
    throw new Error(`its schema has number ${found} instead of ${version}`);
  } catch (cause) {
    db?.close();
    throw explained(path, cause);
  }
}

function explained(path: string, cause: unknown): Error {
  const { message } = cause as Error;
  return new Error(
    `cannot read '${path}': ${message}; start this version of Sluice on the folder once: it sets ` +
      'the file aside and restores what the log still holds',
    { cause },
  );
}
