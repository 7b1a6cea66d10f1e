/** A record of a task or run as a row of a day file, with a checksum over all of it. */
import { crc32 } from 'node:zlib';
import { isRun, isRunKey, type RunRecord } from '../runs/run-record.ts';
import { packRun, unpackRun } from '../runs/run-row.ts';
import { packBody, type RowColumns, unpackRecord } from './record-row.ts';
import type { TaskRecord } from './task-record.ts';

/** Tasks and runs share the table of rows. */
export type AnyRecord = TaskRecord | RunRecord;

/** A record, and how much of the log it has seen. */
export interface StoredRecord {
  readonly record: AnyRecord;
  readonly position: number;
}

/** A row as it is read, with the name of its queue looked up. */
export interface StoredRow extends RowColumns {
  readonly position: number;
  readonly checksum: number;
}

/** The row does not contain what was written. */
class UnreadableRowError extends Error {
  override readonly name = 'UnreadableRowError';
}

export function packRow({ record, position }: StoredRecord): StoredRow {
  const { number, queue, submittedAt, parent, input, result } = record;
  const body = isRun(record) ? packRun(record) : packBody(record);
  const row = { number, queue, submittedAt, parent, input, result, body };
  return { ...row, position, checksum: checksumOf({ ...row, position }) };
}

export function unpackRow(row: StoredRow): StoredRecord {
  if (checksumOf(row) !== row.checksum) {
    throw new UnreadableRowError('its checksum is another one');
  }
  try {
    const record = isRunKey(row.queue) ? unpackRun(row) : unpackRecord(row);
    return { record, position: row.position };
  } catch (cause) {
    throw new UnreadableRowError((cause as Error).message, { cause });
  }
}

function checksumOf(row: Omit<StoredRow, 'checksum'>): number {
  const { number, queue, submittedAt, position, parent, body, input, result } = row;
  // One call over the joined text is faster than a call per field.
  return crc32(
    `${number} ${submittedAt} ${position} ${queue} ${parent} ${body} ${input} ${result}`,
  );
}
