/** A record of a task or run as a row of a day file, with a checksum over all of it. */
import { crc32 } from 'node:zlib';
import type { TaskRecord } from '../records/task-record.ts';
import { UsualTask } from '../records/usual-task.ts';
import { isRun, isRunKey, type RunRecord } from '../runs/run-record.ts';
import { packRun, unpackRun } from '../runs/run-row.ts';
import { packBody, type RowColumns, unpackRecord } from './record-row.ts';

/** Tasks and runs share the table of rows. */
export type AnyRecord = TaskRecord | RunRecord;

/** What a row is written from. */
export type WrittenRecord = AnyRecord | UsualTask;

/** A record, and how much of the log it has seen. */
export interface StoredRecord<R extends WrittenRecord = AnyRecord> {
  readonly record: R;
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

export function packRow({ record, position }: StoredRecord<WrittenRecord>): StoredRow {
  const { number, queue, submittedAt, parent, input, result } = record;
  const row = { number, queue, submittedAt, parent, input, result, body: bodyOf(record), position };
  return Object.assign(row, { checksum: checksumOf(row) });
}

function bodyOf(record: WrittenRecord): string {
  if (record instanceof UsualTask) return record.packBody();
  return isRun(record) ? packRun(record) : packBody(record);
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
