import { TableNames } from '../schema/table-names.ts';
import type { Answer } from '../session/session.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';
import { createLineTable, LINE_TABLES, type LineEntry, tableOf } from './line-rows.ts';

const SESSIONS_MAX = 1;

/** Entries that one statement returns. */
const READ_AT_ONCE = 500;

interface StoredLines extends Omit<LineEntry, 'day' | 'lines'> {
  readonly lines: Buffer;
}

/** Reads and writes the lines of all tasks, for a move of stopped servers. */
export class LineCopies {
  readonly #pool: SessionPool;
  readonly #names: TableNames;

  constructor(address: StoreAddress) {
    this.#pool = new SessionPool({ address, sessionsMax: SESSIONS_MAX });
    this.#names = new TableNames(address.schema);
  }

  /** All entries, task by task and in the order of each lease, in parts. */
  async *read(): AsyncGenerator<LineEntry[]> {
    const { rows } = await this.#query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2
       ORDER BY tablename`,
      [this.#pool.address.schema, LINE_TABLES],
    );
    for (const { name } of rows) yield* this.#readTable(name);
  }

  /** Entries of one day. Those that are there already stay. */
  async write(day: string, entries: readonly LineEntry[]): Promise<void> {
    const table = this.#names.made(tableOf(day));
    await this.#pool.run((session) => session.queryAll([createLineTable(table)]));
    await this.#query(
      `INSERT INTO ${table} SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[],
        $4::bigint[], $5::bigint[], $6::bytea[]) ON CONFLICT DO NOTHING`,
      [
        entries.map(({ task }) => task),
        entries.map(({ attempt }) => attempt),
        entries.map(({ lease }) => lease),
        entries.map(({ seq }) => seq),
        entries.map(({ at }) => at),
        entries.map(({ lines }) => Buffer.from(JSON.stringify(lines))),
      ],
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async *#readTable(name: string): AsyncGenerator<LineEntry[]> {
    const day = name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3');
    for (let last = { task: '', lease: 0, seq: 0 }; ; ) {
      const { rows } = await this.#query<StoredLines>(
        `SELECT task, attempt, lease::float8 AS lease, seq::float8 AS seq, at::float8 AS at, lines
         FROM ${this.#names.made(name)} WHERE (task, lease, seq) > ($1, $2::bigint, $3::bigint)
         ORDER BY task, lease, seq LIMIT ${READ_AT_ONCE}`,
        [last.task, last.lease, last.seq],
      );
      if (rows.length === 0) return;
      yield rows.map(({ lines, ...rest }) => ({
        ...rest,
        day,
        lines: JSON.parse(lines.toString()) as string[],
      }));
      last = rows[rows.length - 1];
    }
  }

  #query<Row extends object>(text: string, values: readonly unknown[]): Promise<Answer<Row>> {
    return this.#pool.run((session) => session.query<Row>(text, values));
  }
}
