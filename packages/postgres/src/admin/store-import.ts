/**
 * The frame of an import: it empties the store and marks it as incomplete, and removes the mark
 * when everything is there. Each is one transaction in one message, under the claimed epoch
 * (postgres.epoch-decides, postgres.one-message).
 */
import { readPlace } from '../log/log-place.ts';
import { LogStatements } from '../log/log-statements.ts';
import { createSegment, FIRST_PARTITION } from '../schema/store-schema.ts';
import { TableNames } from '../schema/table-names.ts';
import { UNFINISHED_IMPORT, unfinishedImport } from '../schema/unfinished-import.ts';
import { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';

/** The store holds something that an import would overwrite. */
export class StoreNotEmptyError extends Error {
  override readonly name = 'StoreNotEmptyError';
}

export interface ImportStart {
  /** The epoch that this process has claimed. */
  readonly epoch: number;
  /** The folder, for messages. */
  readonly from: string;
  /** The first record of the log. */
  readonly firstRecord: number;
}

/** Tables whose rows are data of a server. */
const FILLED = ['snapshot', 'mark', 'program', 'blob', 'blob_piece', 'blob_upload'] as const;

/** Tables that are made while servers run: segments, snapshots, days of rows and of task logs. */
const MADE = `^(log|snapshot|task|tag|named_blob)_[0-9]+_[0-9a-z_]+$|^task_log_[0-9]{8}$`;

/** Rejects with a `StoreNotEmptyError`, unless what is there was left by an earlier import. */
export async function beginImport(address: StoreAddress, start: ImportStart): Promise<void> {
  await withSession(address, async (session) => {
    const names = new TableNames(address.schema);
    const before = await unfinishedImport(session, address);
    if (before === undefined) await refuseUnlessEmpty(session, address, names);
    const tables = await madeTables(session, address);
    await session.queryAll(emptied(names, tables, start));
  });
}

/** Makes the store usable. Rejects when another process has claimed it. */
export async function endImport(address: StoreAddress, epoch: number): Promise<void> {
  await withSession(address, async (session) => {
    const names = new TableNames(address.schema);
    await session.queryAll([
      holds(names, epoch),
      `DELETE FROM ${names.table('note')} WHERE name = '${UNFINISHED_IMPORT}'`,
    ]);
  });
}

async function refuseUnlessEmpty(
  session: Session,
  address: StoreAddress,
  names: TableNames,
): Promise<void> {
  const { tail } = await readPlace(session, new LogStatements(names, FIRST_PARTITION));
  const { rows } = await session.query<{ has: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${names.table('snapshot')})
      OR EXISTS (SELECT 1 FROM ${names.table('blob')}) AS has`,
  );
  if (tail === 0 && !rows[0].has) return;
  throw new StoreNotEmptyError(
    `${address.shown} is not empty: its log has ${tail} records; make another store with ` +
      "'sluice cluster init', such as with '?schema=NAME' at the end of the address",
  );
}

async function madeTables(session: Session, { schema }: StoreAddress): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2',
    [schema, MADE],
  );
  return rows.map(({ name }) => name);
}

/**
 * The statements wait for those of an earlier import that was killed: dropping and truncating lock
 * whole tables. The number of the segment is new, because a dropped name is never used again.
 */
function emptied(names: TableNames, tables: readonly string[], start: ImportStart): string[] {
  const { epoch, from, firstRecord } = start;
  const segment = 1 + Math.max(0, ...tables.map(segmentOf));
  const [partition, note] = [names.table('partition'), names.table('note')];
  const folder = Buffer.from(from).toString('hex');
  return [
    holds(names, epoch),
    ...tables.map((name) => `DROP TABLE IF EXISTS ${names.made(name)}`),
    `TRUNCATE ${[...FILLED, 'segment' as const].map((name) => names.table(name)).join(', ')}`,
    `DELETE FROM ${note}`,
    `INSERT INTO ${note} VALUES ('${UNFINISHED_IMPORT}', '\\x${folder}')`,
    ...createSegment(names.segment(FIRST_PARTITION, segment)),
    `INSERT INTO ${names.table('segment')} VALUES (${FIRST_PARTITION}, ${segment}, ${firstRecord})`,
    `UPDATE ${partition} SET first_record = ${firstRecord}, segment = ${segment}
     WHERE partition = ${FIRST_PARTITION}`,
  ];
}

function segmentOf(table: string): number {
  const prefix = `log_${FIRST_PARTITION}_`;
  return table.startsWith(prefix) ? Number(table.slice(prefix.length)) : 0;
}

/** Ends the transaction unless the epoch is still this one. A claim waits for the transaction. */
function holds(names: TableNames, epoch: number): string {
  return `DO $$ BEGIN
  PERFORM 1 FROM ${names.table('partition')}
  WHERE partition = ${FIRST_PARTITION} AND epoch = ${epoch} FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'another process has claimed the store'; END IF;
END $$`;
}

async function withSession<T>(
  address: StoreAddress,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await Session.open(address, 'sluice import');
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}
