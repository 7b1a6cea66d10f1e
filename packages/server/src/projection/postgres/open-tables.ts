import { type StoreAddress, SyncSession } from '@sluice/postgres';
import { EMBEDDED_PARTITION } from '../../config/embedded-partition.ts';
import { DayFiles, type FileNotice } from '../rows/day-files.ts';
import { DayTables } from './day-tables.ts';
import { PostgresMark } from './postgres-mark.ts';

/** A session that is connected. */
export function openSession(store: StoreAddress): SyncSession {
  const session = new SyncSession(store);
  session.query('SELECT 1');
  return session;
}

/** Rows and mark of the projection in PostgreSQL, over one session that blocks their thread. */
export function openTables(
  session: SyncSession,
  schema: string,
  notify: (notice: FileNotice) => void,
): { readonly files: DayFiles; readonly markFile: PostgresMark } {
  const partition = EMBEDDED_PARTITION;
  return {
    files: new DayFiles(new DayTables(session, schema, partition), notify),
    markFile: new PostgresMark(session, { schema, partition }),
  };
}
