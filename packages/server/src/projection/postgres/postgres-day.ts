import { namespaceOf, TASK_STATES, type Tags } from '@sluice/core';
import type { SyncSession } from '@sluice/postgres';
import { type DayOptions, type FirstRecords, rowId } from '../rows/day-file.ts';
import type { DayTable } from '../rows/day-files.ts';
import { blobsNamedBy } from '../rows/named-blobs.ts';
import { tagText } from '../rows/row-conditions.ts';
import { isOpen, type RowQuery } from '../rows/row-query.ts';
import {
  packRow,
  type StoredRecord,
  type StoredRow,
  unpackRow,
  type WrittenRecord,
} from '../rows/stored-row.ts';
import type { DayTableNames } from './day-tables.ts';
import { tableSearch } from './table-search.ts';

/** A row as the database returns it: user texts as bytes. */
interface TableRow extends Omit<StoredRow, 'parent' | 'input' | 'result' | 'body'> {
  readonly parent: Uint8Array;
  readonly input: Uint8Array;
  readonly result: Uint8Array;
  readonly body: Uint8Array;
}

/** Whole numbers below 2^53 fit into a float; the driver returns those as numbers. */
const COLUMNS = `number::float8 AS number, queue, submitted_at::float8 AS "submittedAt",
  position::float8 AS position, checksum::float8 AS checksum, parent, input, result, body`;

/** Payloads of a search that are read at once. */
const BYTES_AT_ONCE = 2 ** 20;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The tasks that were submitted on one day, in tables of PostgreSQL. */
export class PostgresDay implements DayTable {
  private readonly session: SyncSession;
  private readonly tables: DayTableNames;
  private readonly options: DayOptions;
  /** Rows that were reported as unreadable. */
  private readonly unreadable = new Set<number>();

  constructor(session: SyncSession, tables: DayTableNames, options: DayOptions) {
    this.session = session;
    this.tables = tables;
    this.options = options;
  }

  get first(): number | undefined {
    return this.numberFrom(`SELECT min(number)::float8 AS number FROM ${this.tables.task}`);
  }

  get last(): number | undefined {
    return this.numberFrom(`SELECT max(number)::float8 AS number FROM ${this.tables.task}`);
  }

  /** Rows that were removed do not count, although the database keeps their room for others. */
  get usedBytes(): number {
    const { task, tag, named_blob } = this.tables;
    const { rows } = this.session.query<{ bytes: number }>(
      `SELECT coalesce(sum(pg_total_relation_size(relid)
         * (n_live_tup + 1) / (n_live_tup + n_dead_tup + 1)), 0)::float8 AS bytes
       FROM pg_stat_user_tables
       WHERE relid IN ('${task}'::regclass, '${tag}'::regclass, '${named_blob}'::regclass)`,
    );
    return rows[0].bytes;
  }

  /** One statement, so that all of it is stored or nothing. A row that has seen more stays. */
  write(records: Iterable<StoredRecord<WrittenRecord>>): void {
    const { task, tag, named_blob } = this.tables;
    const rows = new Map<number, StoredRecord<WrittenRecord>>();
    for (const stored of records) rows.set(stored.record.number, stored);
    if (rows.size === 0) return;
    const columns = columnsOf(rows.values());
    this.session.query(
      `WITH tagged AS (
        INSERT INTO ${tag} SELECT * FROM unnest($14::text[], $15::bigint[]) ON CONFLICT DO NOTHING
      ), named AS (
        INSERT INTO ${named_blob} SELECT * FROM unnest($16::text[], $17::bigint[])
        ON CONFLICT DO NOTHING
      )
      INSERT INTO ${task} AS known SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[],
        $4::int[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
        $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[])
      ON CONFLICT (number) DO UPDATE SET
        queue = excluded.queue, namespace = excluded.namespace, state = excluded.state,
        is_open = excluded.is_open, submitted_at = excluded.submitted_at,
        ended_at = excluded.ended_at, position = excluded.position, checksum = excluded.checksum,
        parent = excluded.parent, input = excluded.input, result = excluded.result,
        body = excluded.body
      WHERE known.position <= excluded.position`,
      columns,
    );
    for (const number of rows.keys()) this.unreadable.delete(number);
  }

  read(number: number, count: number): StoredRecord[] {
    return this.unpacked('number >= $1 AND number < $2', [number, number + count]);
  }

  /**
   * The first of these falling numbers, as many as take little memory. A question takes much longer
   * than its row.
   */
  readFirst(numbers: readonly number[]): FirstRecords {
    const { task } = this.tables;
    const { rows } = this.session.query<TableRow>(
      `WITH sized AS (
        SELECT number, row_number() OVER newest AS place,
          sum(octet_length(input) + octet_length(result) + octet_length(body)) OVER newest AS bytes
        FROM ${task} WHERE number = ANY ($1::bigint[]) WINDOW newest AS (ORDER BY number DESC)
      )
      SELECT ${COLUMNS} FROM ${task}
      WHERE number IN (SELECT number FROM sized WHERE place = 1 OR bytes <= $2)
      ORDER BY ${task}.number DESC`,
      [numbers, BYTES_AT_ONCE],
    );
    const last = rows.at(-1)?.number ?? 0;
    return { records: this.unpack(rows), count: numbers.filter((each) => each >= last).length };
  }

  /** The next rows from this number on, whatever lies between them. */
  readNext(number: number, rowsMax: number): { records: StoredRecord[]; next?: number } {
    const numbers = this.session.query<{ number: number }>(
      `SELECT number::float8 AS number FROM ${this.tables.task} WHERE number >= $1
       ORDER BY number LIMIT $2`,
      [number, rowsMax],
    ).rows;
    if (numbers.length === 0) return { records: [] };
    const next = numbers[numbers.length - 1].number + 1;
    return { records: this.unpacked('number >= $1 AND number < $2', [number, next]), next };
  }

  open(number: number, count: number): StoredRecord[] {
    return this.unpacked('number >= $1 AND number < $2 AND is_open', [number, number + count]);
  }

  find(query: RowQuery): number[] {
    const { text, values } = tableSearch(query, this.tables);
    const { rows } = this.session.query<{ number: number }>(text, values);
    return rows.map(({ number }) => number);
  }

  names(blob: string): boolean {
    const text = `SELECT 1 FROM ${this.tables.named_blob} WHERE blob = $1 LIMIT 1`;
    return this.session.query(text, [blob]).count > 0;
  }

  removeBetween(low: number, high: number): void {
    const text = `DELETE FROM ${this.tables.task} WHERE number BETWEEN $1 AND $2`;
    if (this.session.query(text, [low, high]).count > 0) this.sweep();
  }

  removeEnded(before: number, rowsMax: number): boolean {
    const { task } = this.tables;
    const { count } = this.session.query(
      `DELETE FROM ${task} WHERE number IN (
        SELECT number FROM ${task} WHERE NOT is_open AND ended_at < $1 LIMIT $2)`,
      [boundOf(before), rowsMax],
    );
    if (count === 0) return false;
    if (count < rowsMax) this.sweep();
    return true;
  }

  /** Numbers and times increase together, so a binary search works. */
  firstSince(time: number): number | undefined {
    const { first, last } = this;
    if (first === undefined || last === undefined) return undefined;
    let [low, high] = [first, last];
    let found: number | undefined;
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const { rows } = this.session.query<{ number: number; at: number }>(
        `SELECT number::float8 AS number, submitted_at::float8 AS at FROM ${this.tables.task}
         WHERE number >= $1 ORDER BY number LIMIT 1`,
        [middle],
      );
      const [{ number, at }] = rows;
      if (at >= time) {
        found = number;
        high = middle - 1;
      } else {
        low = number + 1;
      }
    }
    return found;
  }

  /** The session belongs to all days and to the mark. */
  close(): void {}

  /** Removes tags and blob names of tasks that are gone. */
  private sweep(): void {
    const { task, tag, named_blob } = this.tables;
    for (const table of [tag, named_blob]) {
      this.session.query(
        `DELETE FROM ${table} gone WHERE NOT EXISTS (
          SELECT 1 FROM ${task} WHERE number = gone.number)`,
      );
    }
  }

  private numberFrom(text: string): number | undefined {
    return this.session.query<{ number: number | null }>(text).rows[0].number ?? undefined;
  }

  private unpacked(condition: string, values: readonly number[]): StoredRecord[] {
    const { rows } = this.session.query<TableRow>(
      `SELECT ${COLUMNS} FROM ${this.tables.task} WHERE ${condition} ORDER BY number`,
      values,
    );
    return this.unpack(rows);
  }

  private unpack(rows: readonly TableRow[]): StoredRecord[] {
    return rows.flatMap((row) => {
      try {
        return [unpackRow(withTexts(row))];
      } catch (cause) {
        this.report(row, cause as Error);
        return [];
      }
    });
  }

  /** The row stays where it is, and every read skips it. */
  private report({ number, submittedAt }: TableRow, why: Error): void {
    if (this.unreadable.has(number)) return;
    this.unreadable.add(number);
    this.options.onLeftOut('row', rowId(number, submittedAt), why.message);
  }
}

/** The columns of the rows, then tags and blobs with the numbers of their tasks. */
function columnsOf(records: Iterable<StoredRecord<WrittenRecord>>): unknown[][] {
  const columns: unknown[][] = Array.from({ length: 17 }, () => []);
  const push = (first: number, values: readonly unknown[]): void => {
    for (const [place, value] of values.entries()) columns[first + place].push(value);
  };
  for (const stored of records) {
    const { record } = stored;
    const row = packRow(stored);
    const namespace = namespaceOf(record.queue);
    push(0, [
      ...[row.number, row.queue, namespace, TASK_STATES.indexOf(TASK_STATES[record.state])],
      ...[isOpen(record), row.submittedAt, record.endedAt, row.position, row.checksum],
      ...[row.parent, row.input, row.result, row.body].map((text) => Buffer.from(text)),
    ]);
    const tags = Object.entries(record.tags === '' ? {} : (JSON.parse(record.tags) as Tags));
    for (const [name, value] of tags) push(13, [tagText(namespace, name, value), row.number]);
    for (const blob of blobsNamedBy(record)) push(15, [blob, row.number]);
  }
  return columns;
}

function withTexts(row: TableRow): StoredRow {
  const text = (bytes: Uint8Array): string => decoder.decode(bytes);
  const { parent, input, result, body } = row;
  const texts = { parent: text(parent), input: text(input), result: text(result) };
  return { ...row, ...texts, body: text(body) };
}

/** A bound that no whole number of the database reaches. */
function boundOf(value: number): number {
  return Math.max(Math.min(value, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER);
}
