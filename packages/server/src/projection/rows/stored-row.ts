/** A task record as a row of a day file, with a checksum over all of it. */
import { crc32 } from 'node:zlib';
import { packBody, type RowColumns, unpackRecord } from './record-row.ts';
import type { TaskRecord } from './task-record.ts';

/** A record, and how much of the log it has seen. */
export interface StoredRecord {
  readonly record: TaskRecord;
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
  const row = { number, queue, submittedAt, parent, input, result, body: packBody(record) };
  return { ...row, position, checksum: checksumOf({ ...row, position }) };
}

export function unpackRow(row: StoredRow): StoredRecord {
  if (checksumOf(row) !== row.checksum) {
    throw new UnreadableRowError('its checksum is another one');
  }
  try {
    return { record: unpackRecord(row), position: row.position };
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
