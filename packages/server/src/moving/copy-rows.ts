import { setImmediate as turn } from 'node:timers/promises';
import type { StoreAddress } from '@sluice/postgres';
import { EMBEDDED_PARTITION } from '../config/embedded-partition.ts';
import { DayTables } from '../projection/postgres/day-tables.ts';
import { openSession } from '../projection/postgres/open-tables.ts';
import { PostgresMark } from '../projection/postgres/postgres-mark.ts';
import { DayFolder } from '../projection/rows/day-file.ts';
import { DAYS_FOLDER, KEPT } from '../projection/rows/day-names.ts';
import { MarkFile } from '../projection/rows/mark-file.ts';
import type { MoveOrder, MoveProgress } from './moved-data.ts';
import { StoppedRows } from './stopped-rows.ts';

/** Rows that are read from the database at once. */
const ROWS_AT_ONCE = 128;

export interface RowsMove {
  /** The folder of the projection. */
  readonly folder: string;
  readonly address: StoreAddress;
  readonly progress: MoveProgress;
  readonly onLeftOut: MoveOrder['onLeftOut'];
}

/**
 * Copies rows, mark and definitions into the database. Its session blocks this thread, so between
 * two slices the hold has a turn to be renewed.
 */
export async function copyRowsToStore(move: RowsMove): Promise<void> {
  const { folder, address, progress } = move;
  const source = new StoppedRows(folder, move.onLeftOut);
  const session = openSession(address);
  try {
    const days = new DayTables(session, address.schema, EMBEDDED_PARTITION);
    for (const name of source.days()) {
      const day = days.open(name, optionsOf(move, name));
      for (const slice of source.slices(name)) {
        day.write(slice);
        progress.add('rows', { rows: slice.length });
        await turn();
      }
    }
    const saved = source.saved();
    const place = { schema: address.schema, partition: EMBEDDED_PARTITION };
    // The mark is last: rows contain everything before it.
    if (saved !== undefined) new PostgresMark(session, place).write(saved.mark, saved.programs);
  } finally {
    session.close();
  }
}

/** The way back. */
export async function copyRowsToFolder(move: RowsMove): Promise<void> {
  const { folder, address, progress } = move;
  const session = openSession(address);
  try {
    const tables = new DayTables(session, address.schema, EMBEDDED_PARTITION);
    const files = new DayFolder(`${folder}/${DAYS_FOLDER}`);
    for (const name of tables.listAll()) {
      const source = tables.existing(name, optionsOf(move, name));
      const target = files.open(name, optionsOf(move, name));
      try {
        for (let from: number | undefined = 0; from !== undefined; ) {
          const { records, next } = source.readNext(from, ROWS_AT_ONCE);
          target.write(records);
          progress.add('rows', { rows: records.length });
          from = next;
          await turn();
        }
      } finally {
        target.close();
      }
    }
    copyMark(session, move);
  } finally {
    session.close();
  }
}

function copyMark(session: ReturnType<typeof openSession>, { folder, address }: RowsMove): void {
  const place = { schema: address.schema, partition: EMBEDDED_PARTITION };
  const source = new PostgresMark(session, place);
  const target = new MarkFile(folder);
  try {
    target.write(source.read(), source.programs());
  } finally {
    target.close();
  }
}

function optionsOf({ onLeftOut }: RowsMove, day: string) {
  return {
    onLeftOut: (_what: 'row' | 'record', task: string, why: string) => onLeftOut(task, why),
    isShrinking: day === KEPT,
  };
}
