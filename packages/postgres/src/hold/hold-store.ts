import { FIRST_PARTITION } from '../schema/store-schema.ts';
import { TableNames } from '../schema/table-names.ts';
import { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';
import { HOLD_TTL, NEXT_EPOCH } from './hold-ttl.ts';

/** Who holds the partition, as the database sees it. */
export interface HoldView {
  readonly epoch: number;
  /** Undefined when nobody has held it, or the last holder let go. */
  readonly runId: string | undefined;
  readonly address: string | undefined;
  readonly renewals: number;
  readonly isExpired: boolean;
  /** An operator wants another server to take over. */
  readonly handOff: boolean;
  /** Nothing newer is written by any server; 0 if the row is gone. */
  readonly level: number;
  /** The database's clock, in milliseconds since 1970. */
  readonly now: number;
}

/** What a server says about itself. */
export interface ServerEntry {
  readonly runId: string;
  readonly address: string;
  readonly version: string;
  /** Records that it knows to be committed. */
  readonly position: number;
  /** Changes when a loss is accepted: positions of different generations cannot be compared. */
  readonly generation: string;
  /** The newest level that it knows. */
  readonly level: number;
}

export interface ServerView extends ServerEntry {
  /** Since it last said so. */
  readonly seenMsAgo: number;
}

/** A connection without an answer for this long is given up: its machine may be gone. */
const ANSWER_MS_MAX = 2_000;

/** A server that has not been seen for this long is forgotten. */
const FORGOTTEN_AFTER = '10 minutes';

/** The driver returns large integers and times as text; these casts return numbers. */
const NOW_MS = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/** The setting ends with the statement: a renewal that a crash takes back is renewed again. */
const UNSYNCED = `unsynced AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true))`;

/**
 * The right to a partition, in the database. It has one connection, which also has the advisory
 * lock of the owner: the lock is free as soon as the owner's process is gone. A lost connection is
 * opened again by the next call.
 *
 * The hold only says who tries. Whether an append lands is decided by the epoch alone
 * (postgres.epoch-decides).
 */
export class HoldStore {
  readonly #address: StoreAddress;
  readonly #hold: string;
  readonly #partition: string;
  readonly #server: string;
  /** What `look` and `renew` return. */
  readonly #view: string;
  readonly #lock: string;
  readonly #runId: string;
  #session: Promise<Session> | undefined;
  /** The connection that has the lock. */
  #locked: Session | undefined;
  #isClosed = false;

  constructor(address: StoreAddress, runId: string) {
    const names = new TableNames(address.schema);
    this.#address = address;
    this.#hold = names.table('hold');
    this.#partition = names.table('partition');
    this.#server = names.table('server');
    this.#view = `${VIEW}, (SELECT level FROM ${names.table('cluster')}) AS level`;
    this.#lock = `hashtextextended('sluice ${address.schema} ${FIRST_PARTITION}', 0)`;
    this.#runId = runId;
  }

  async look(): Promise<HoldView> {
    const { rows } = await this.#query<HoldRow>(
      `SELECT ${this.#view} FROM ${this.#hold} WHERE partition = ${FIRST_PARTITION}`,
    );
    return viewOf(rows[0]);
  }

  /**
   * Takes the partition if it is still as it was seen, and its hold is over or its owner is known
   * to be gone. Returns the new epoch, or undefined.
   */
  async claim(seen: HoldView, address: string, isGone: boolean): Promise<number | undefined> {
    const { rows } = await this.#query<{ epoch: number }>(
      `WITH claimed AS (
        UPDATE ${this.#hold} SET epoch = ${NEXT_EPOCH}, run_id = $1, address = $2, renewals = 0,
          hand_off = false,
          expires_at = clock_timestamp() + interval '${HOLD_TTL}'
        WHERE partition = ${FIRST_PARTITION} AND epoch = $3
        AND ($4::boolean OR expires_at < clock_timestamp()) RETURNING epoch)
      UPDATE ${this.#partition} p SET epoch = c.epoch FROM claimed c
      WHERE p.partition = ${FIRST_PARTITION} RETURNING p.epoch::float8 AS epoch`,
      [this.#runId, address, seen.epoch, isGone],
    );
    return rows.at(0)?.epoch;
  }

  /** Undefined when this process no longer holds the partition. */
  async renew(epoch: number): Promise<HoldView | undefined> {
    const { rows } = await this.#query<HoldRow>(
      `WITH ${UNSYNCED}
      UPDATE ${this.#hold} SET renewals = renewals + 1,
        expires_at = clock_timestamp() + interval '${HOLD_TTL}'
      FROM unsynced WHERE partition = ${FIRST_PARTITION} AND epoch = $1 AND run_id = $2
      RETURNING ${this.#view}`,
      [epoch, this.#runId],
    );
    return rows.length === 0 ? undefined : viewOf(rows[0]);
  }

  /** Lets go: any other server may claim the partition at once. */
  async release(epoch: number): Promise<void> {
    await this.#query(
      `UPDATE ${this.#hold} SET run_id = NULL, address = NULL, expires_at = '-infinity'
       WHERE partition = ${FIRST_PARTITION} AND epoch = $1 AND run_id = $2`,
      [epoch, this.#runId],
    );
    await this.unlock();
  }

  /** Asks the owner to hand the partition over. False when there is none. */
  async askHandOff(): Promise<boolean> {
    const { count } = await this.#query(
      `UPDATE ${this.#hold} SET hand_off = true
       WHERE partition = ${FIRST_PARTITION} AND run_id IS NOT NULL`,
    );
    return count === 1;
  }

  /** True when no living connection of an owner has the lock; then this one has it. */
  async tryLock(): Promise<boolean> {
    const session = await this.#open();
    if (this.#locked === session) return true;
    const { rows } = await this.#query<{ has: boolean }>(
      `SELECT pg_try_advisory_lock(${this.#lock}) AS has`,
    );
    if (rows[0].has) this.#locked = session;
    return rows[0].has;
  }

  async unlock(): Promise<void> {
    this.#locked = undefined;
    await this.#query('SELECT pg_advisory_unlock_all()');
  }

  /** Says that this server is there. */
  async beat({
    address,
    version,
    position,
    generation,
    level,
  }: Omit<ServerEntry, 'runId'>): Promise<void> {
    await this.#query(
      `WITH ${UNSYNCED}, gone AS (DELETE FROM ${this.#server}
        WHERE seen_at < clock_timestamp() - interval '${FORGOTTEN_AFTER}')
      INSERT INTO ${this.#server}
      SELECT $1::uuid, $2, $3, $4::bigint, $5, $6::int, clock_timestamp() FROM unsynced
      ON CONFLICT (run_id) DO UPDATE SET address = excluded.address, version = excluded.version,
        position = excluded.position, generation = excluded.generation,
        level = excluded.level, seen_at = excluded.seen_at`,
      [this.#runId, address, version, position, generation, level],
    );
  }

  /** Takes this server off the list. */
  async leave(): Promise<void> {
    await this.#query(`DELETE FROM ${this.#server} WHERE run_id = $1`, [this.#runId]);
  }

  async servers(): Promise<ServerView[]> {
    const { rows } = await this.#query<ServerView>(
      `SELECT run_id AS "runId", address, version, position::float8 AS position,
        generation, level,
        floor(extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS "seenMsAgo"
       FROM ${this.#server} ORDER BY address, run_id`,
    );
    return [...rows];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => undefined);
    await session?.end();
  }

  async #query<Row extends object>(text: string, values: readonly unknown[] = []) {
    const session = await this.#open();
    return session.queryWithin<Row>(ANSWER_MS_MAX, text, values);
  }

  async #open(): Promise<Session> {
    if (this.#isClosed) throw new Error('the hold is closed');
    const known = await this.#session?.catch(() => undefined);
    if (known !== undefined && !known.isBroken) return known;
    this.#session = Session.open(this.#address, `sluice hold ${this.#runId.slice(0, 8)}`);
    return this.#session;
  }
}

const VIEW = `epoch::float8 AS epoch, run_id AS "runId", address, renewals::float8 AS renewals,
  expires_at < clock_timestamp() AS "isExpired", hand_off AS "handOff", ${NOW_MS} AS now`;

interface HoldRow {
  readonly epoch: number;
  readonly runId: string | null;
  readonly address: string | null;
  readonly renewals: number;
  readonly isExpired: boolean;
  readonly handOff: boolean;
  readonly level: number;
  readonly now: number;
}

function viewOf({ runId, address, ...rest }: HoldRow): HoldView {
  return { ...rest, runId: runId ?? undefined, address: address ?? undefined };
}
