import { TableNames } from '../schema/table-names.ts';
import { failureOf } from '../session/failures.ts';
import type { Answer } from '../session/session.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';

/** Lines that were written together. */
export interface LineEntry {
  /** `2026-11-18`: the day of the task. Its lines are in one table. */
  readonly day: string;
  readonly task: string;
  readonly attempt: number;
  readonly lease: number;
  readonly seq: number;
  readonly at: number;
  readonly lines: readonly string[];
}

export interface LineRowsOptions {
  readonly address: StoreAddress;
  /** Limit of one lease; older lines are dropped. */
  readonly leaseBytesMax?: number;
  /** Limit of all lines together; the oldest days are dropped. */
  readonly totalBytesMax?: number;
}

const DEFAULTS = { leaseBytesMax: 2 ** 20, totalBytesMax: 2 ** 30 };

/** Number of leases whose bytes are remembered; others are asked for. */
const REMEMBERED_MAX = 10_000;

const SESSIONS_MAX = 2;

/** Names of the tables of all days. */
export const LINE_TABLES = '^task_log_[0-9]{8}$';

/** A day that somebody reads or dumps waits for the next sweep. */
const DROP_WAIT = '100ms';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

interface StoredEntry {
  readonly attempt: number;
  readonly lease: number;
  readonly seq: number;
  readonly at: number;
  readonly lines: Buffer;
}

/**
 * The lines of handlers in PostgreSQL: one table for each day of tasks, so that old days are
 * dropped at once. Lines are not waited for by a sync: a crash of the database may take the last.
 */
export class LineRows {
  readonly #pool: SessionPool;
  readonly #names: TableNames;
  readonly #leaseBytesMax: number;
  readonly #totalBytesMax: number;
  /** Days whose tables exist. */
  readonly #days = new Set<string>();
  /** Bytes of a lease, by its number. */
  readonly #bytes = new Map<number, number>();

  constructor(options: LineRowsOptions) {
    const { address, leaseBytesMax, totalBytesMax } = { ...DEFAULTS, ...options };
    this.#pool = new SessionPool({ address, sessionsMax: SESSIONS_MAX });
    this.#names = new TableNames(address.schema);
    this.#leaseBytesMax = leaseBytesMax;
    this.#totalBytesMax = totalBytesMax;
  }

  /** Returns false for an entry that is known already. */
  async append(entry: LineEntry): Promise<boolean> {
    await this.#makeDay(entry.day);
    try {
      return await this.#insert(entry);
    } catch (cause) {
      if (failureOf(cause) !== 'missing') throw cause;
      // A sweep dropped the day.
      this.#days.delete(entry.day);
      await this.#makeDay(entry.day);
      return this.#insert(entry);
    }
  }

  /** All entries of a task, in the order of its leases. */
  async read(day: string, task: string): Promise<Omit<LineEntry, 'day' | 'task'>[]> {
    try {
      const { rows } = await this.#query<StoredEntry>(
        `SELECT attempt, lease::float8 AS lease, seq::float8 AS seq, at::float8 AS at, lines
         FROM ${this.#table(day)} WHERE task = $1 ORDER BY lease, seq`,
        [task],
      );
      return rows.map(({ lines, ...rest }) => ({ ...rest, lines: JSON.parse(lines.toString()) }));
    } catch (cause) {
      if (failureOf(cause) === 'missing') return [];
      throw cause;
    }
  }

  /** Drops days before `oldest`, then the oldest days until the rest is within the limit. */
  async sweep(oldest: string): Promise<void> {
    const { rows } = await this.#query<{ name: string; bytes: number }>(
      `SELECT relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = relnamespace
       WHERE nspname = $1 AND relkind = 'r' AND relname ~ '${LINE_TABLES}' ORDER BY relname`,
      [this.#pool.address.schema],
    );
    let total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const [place, { name, bytes }] of rows.entries()) {
      const isLast = place === rows.length - 1;
      const isTooOld = name < tableOf(oldest);
      if (!isTooOld && (total <= this.#totalBytesMax || isLast)) return;
      await this.#pool.run((session) =>
        session.queryAll([
          `SET LOCAL lock_timeout = '${DROP_WAIT}'`,
          `DROP TABLE IF EXISTS ${this.#names.made(name)}`,
        ]),
      );
      total -= bytes;
      this.#days.clear();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** The setting ends with the statement, which is a transaction. */
  async #insert({ day, task, attempt, lease, seq, at, lines }: LineEntry): Promise<boolean> {
    const content = Buffer.from(JSON.stringify(lines));
    const { count } = await this.#query(
      `WITH unsynced AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
       INSERT INTO ${this.#table(day)}
       SELECT $1, $2::int, $3::bigint, $4::bigint, $5::bigint, $6::bytea FROM unsynced
       WHERE NOT EXISTS (SELECT 1 FROM ${this.#table(day)}
         WHERE task = $1 AND lease = $3 AND seq >= $4)
       ON CONFLICT DO NOTHING`,
      [task, attempt, lease, seq, at, content],
    );
    if (count === 1) await this.#grew({ day, task, lease }, content.length);
    return count === 1;
  }

  async #grew(
    { day, task, lease }: Pick<LineEntry, 'day' | 'task' | 'lease'>,
    more: number,
  ): Promise<void> {
    const known = this.#bytes.get(lease);
    const bytes = known === undefined ? await this.#bytesOf(day, task, lease) : known + more;
    if (this.#bytes.size >= REMEMBERED_MAX) this.#bytes.clear();
    this.#bytes.set(lease, bytes);
    if (bytes <= this.#leaseBytesMax) return;
    const table = this.#table(day);
    // Keeps the newest half, as a ring of two files does.
    await this.#query(
      `DELETE FROM ${table} WHERE task = $1 AND lease = $2 AND seq < (
        SELECT min(seq) FROM (
          SELECT seq, sum(octet_length(lines)) OVER (ORDER BY seq DESC) AS newer
          FROM ${table} WHERE task = $1 AND lease = $2) counted WHERE newer <= $3)`,
      [task, lease, this.#leaseBytesMax / 2],
    );
    this.#bytes.set(lease, await this.#bytesOf(day, task, lease));
  }

  async #bytesOf(day: string, task: string, lease: number): Promise<number> {
    const { rows } = await this.#query<{ bytes: number }>(
      `SELECT coalesce(sum(octet_length(lines)), 0)::float8 AS bytes FROM ${this.#table(day)}
       WHERE task = $1 AND lease = $2`,
      [task, lease],
    );
    return rows[0].bytes;
  }

  async #makeDay(day: string): Promise<void> {
    if (this.#days.has(day)) return;
    await this.#pool.run((session) => session.queryAll([createLineTable(this.#table(day))]));
    this.#days.add(day);
  }

  #table(day: string): string {
    return this.#names.made(tableOf(day));
  }

  #query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    return this.#pool.run((session) => session.query<Row>(text, values));
  }
}

export function createLineTable(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
    task text, attempt int NOT NULL, lease bigint, seq bigint, at bigint NOT NULL,
    lines bytea NOT NULL, PRIMARY KEY (task, lease, seq))`;
}

/** The name of a day's table. */
export function tableOf(day: string): string {
  if (!DAY.test(day)) throw new RangeError(`'${day}' is not a day`);
  return `task_log_${day.replaceAll('-', '')}`;
}
