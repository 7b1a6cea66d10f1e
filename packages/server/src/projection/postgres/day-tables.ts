import type { SyncSession } from '@sluice/postgres';
import type { DayOptions } from '../rows/day-file.ts';
import type { DayStorage } from '../rows/day-files.ts';
import { KEPT } from '../rows/day-names.ts';
import { IS_RARE } from '../rows/row-conditions.ts';
import { PostgresDay } from './postgres-day.ts';

/** Kinds of tables that a day has. */
const KINDS = ['task', 'tag', 'named_blob'] as const;

/** The names of a day's tables, with their schema. */
export type DayTableNames = Readonly<Record<(typeof KINDS)[number], string>>;

/** Days as tables of a schema in PostgreSQL. Removing a day drops its tables. */
export class DayTables implements DayStorage {
  private readonly session: SyncSession;
  private readonly schema: string;
  private readonly partition: number;

  constructor(session: SyncSession, schema: string, partition: number) {
    this.session = session;
    this.schema = schema;
    this.partition = partition;
  }

  list(): string[] {
    const prefix = `task_${this.partition}_`;
    const { rows } = this.session.query<{ name: string }>(
      'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2',
      [this.schema, `^${prefix}[0-9]{8}$`],
    );
    return rows.map(({ name }) => {
      return name.slice(prefix.length).replace(/(....)(..)(..)/, '$1-$2-$3');
    });
  }

  open(name: string, options: DayOptions): PostgresDay {
    const names = this.namesOf(name);
    for (const statement of createDay(names)) this.session.query(statement);
    return new PostgresDay(this.session, names, options);
  }

  /** Names of the days that exist, and of the kept tasks if they have tables. */
  listAll(): string[] {
    const { rows } = this.session.query<{ found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      [this.namesOf(KEPT).task],
    );
    return [...(rows[0].found ? [KEPT] : []), ...this.list().sort()];
  }

  /** A day that is only read. */
  existing(name: string, options: DayOptions): PostgresDay {
    return new PostgresDay(this.session, this.namesOf(name), options);
  }

  bytesOf(name: string): number {
    const sizes = Object.values(this.namesOf(name)).map((table) => {
      return `coalesce(pg_total_relation_size(to_regclass('${table}')), 0)`;
    });
    const { rows } = this.session.query<{ bytes: string }>(`SELECT ${sizes.join(' + ')} AS bytes`);
    return Number(rows[0].bytes);
  }

  remove(name: string): void {
    const tables = Object.values(this.namesOf(name));
    this.session.query(`DROP TABLE IF EXISTS ${tables.join(', ')}`);
  }

  /** The database checks its own files; what is wrong with a table is never known here. */
  setAside(_name: string, cause: unknown): string {
    throw cause;
  }

  private namesOf(name: string): DayTableNames {
    const day = name === KEPT ? 'kept' : name.replaceAll('-', '');
    const named = KINDS.map((kind) => [kind, `"${this.schema}".${kind}_${this.partition}_${day}`]);
    return Object.fromEntries(named) as DayTableNames;
  }
}

/**
 * As the tables of a day file. Texts of users are stored as bytes, because PostgreSQL refuses a
 * text with a zero character.
 */
function createDay({ task, tag, named_blob }: DayTableNames): string[] {
  const index = (columns: string, condition = '') => {
    const name = `${task.split('.')[1]}_${columns.replace(/\W+/g, '_')}`;
    return `CREATE INDEX IF NOT EXISTS ${name} ON ${task} (${columns}) ${condition}`;
  };
  return [
    `CREATE TABLE IF NOT EXISTS ${task} (
      number bigint PRIMARY KEY,
      queue text NOT NULL,
      namespace text NOT NULL,
      state int NOT NULL,
      is_open boolean NOT NULL,
      submitted_at bigint NOT NULL,
      ended_at bigint NOT NULL,
      position bigint NOT NULL,
      checksum bigint NOT NULL,
      parent bytea NOT NULL,
      input bytea NOT NULL,
      result bytea NOT NULL,
      body bytea NOT NULL)`,
    index('namespace, number'),
    index('queue, number'),
    index('namespace, state, number', `WHERE ${IS_RARE}`),
    index('parent, number', `WHERE parent <> ''`),
    `CREATE TABLE IF NOT EXISTS ${tag} (tag text, number bigint, PRIMARY KEY (tag, number))`,
    `CREATE TABLE IF NOT EXISTS ${named_blob} (
      blob text, number bigint, PRIMARY KEY (blob, number))`,
  ];
}
