import { HOLD_TTL } from '../hold/hold-ttl.ts';
import { createSegment } from '../schema/store-schema.ts';
import type { TableNames } from '../schema/table-names.ts';

/** What is left to trim while somebody reads or dumps a segment waits for the next trim. */
const DROP_WAIT = '100ms';

/** Bytes that one statement of a read returns, unless one batch is larger. */
const READ_BYTES = 4 * 2 ** 20;

/** Small batches that one statement of a read looks at. */
const READ_BATCHES = 2_048;

/** More than a batch usually has, so that a disk with a few bytes left counts as full. */
const PROBE_BYTES = 2 ** 18;

/**
 * The statements of the log. Each is a transaction in one message: a client that freezes between
 * two messages must not hold a lock that its successor needs (postgres.one-message).
 *
 * postgres.epoch-decides: An append lands only while the row of its partition has its epoch. It
 * share-locks that row, and a claim changes it. So a claim waits for the appends under way, and an
 * append that waited for a claim reads the row again and finds another epoch.
 *
 * postgres.written-word: Whatever says that a batch is durable is a statement that writes. It
 * waits for a synchronous replica itself, and thereby for everything that it has seen.
 *
 * postgres.one-message: No transaction that locks the partition spans two messages.
 */
export class LogStatements {
  readonly #names: TableNames;
  readonly #partition: number;

  constructor(names: TableNames, partition: number) {
    this.#names = names;
    this.#partition = partition;
  }

  /** Values: epoch, expected tail, record count, nonce, crc, bytes. Inserts one row or none. */
  append(segment: number): string {
    const table = this.table(segment);
    return `WITH held AS MATERIALIZED (
  SELECT 1 FROM ${this.#names.table('partition')} WHERE ${this.#isHeld(segment, '$1')} FOR SHARE)
INSERT INTO ${table}
SELECT $2::bigint, $3::bigint, $1::bigint, $4::bigint, $5::bigint, $6::bytea FROM held
WHERE ${this.#tailOf(segment)} = $2
ON CONFLICT (first_record) DO NOTHING`;
  }

  /** Values: epoch, expected tail, nonce. Changes a row if this batch is the last, durably. */
  judge(segment: number): string {
    const table = this.table(segment);
    return `UPDATE ${this.#names.table('partition')} SET judged = judged + 1
WHERE ${this.#isHeld(segment, '$1')}
AND (SELECT nonce FROM ${table} WHERE first_record = $2) = $3
AND NOT EXISTS (SELECT 1 FROM ${table} WHERE first_record > $2)`;
  }

  /**
   * Values: epoch, tail. Goes on in the next segment. Changing the partition's row shuts out
   * appends to the earlier one. Changes nothing when it was done already.
   */
  roll(segment: number): string {
    return `WITH rolled AS (
  UPDATE ${this.#names.table('partition')} SET segment = ${segment + 1}
  WHERE ${this.#isHeld(segment, '$1')} AND ${this.#tailOf(segment)} = $2 RETURNING 1)
INSERT INTO ${this.#names.table('segment')}
SELECT ${this.#partition}, ${segment + 1}, $2::bigint FROM rolled`;
  }

  /** Values: run id, address. Whoever holds the partition loses it. */
  claim(): string {
    return `WITH claimed AS (
  UPDATE ${this.#names.table('hold')} SET epoch = epoch + 1, run_id = $1, address = $2,
    renewals = 0, hand_off = false, expires_at = clock_timestamp() + interval '${HOLD_TTL}'
  WHERE partition = ${this.#partition} RETURNING epoch)
UPDATE ${this.#names.table('partition')} p SET epoch = c.epoch FROM claimed c
WHERE p.partition = ${this.#partition} RETURNING p.epoch, p.first_record, p.segment`;
  }

  /** The partition's row and its segments, in order. */
  place(): string {
    return `SELECT p.epoch, p.first_record, p.segment, s.number, s.first_record AS segment_first
FROM ${this.#names.table('partition')} p JOIN ${this.#names.table('segment')} s USING (partition)
WHERE p.partition = ${this.#partition} ORDER BY s.number`;
  }

  /** Where a segment ends, and how much room it takes. */
  tail(segment: number): string {
    const table = this.table(segment);
    return `SELECT ${this.#tailOf(segment)} AS tail, pg_table_size('${table}') AS bytes`;
  }

  /** Values: epoch, first record that stays. */
  trim(): string {
    return `UPDATE ${this.#names.table('partition')}
SET first_record = greatest(first_record, $2::bigint)
WHERE partition = ${this.#partition} AND epoch = $1`;
  }

  /** Values: a record. The batch that holds it. */
  batchOf(segment: number): string {
    return `SELECT max(first_record) AS start FROM ${this.table(segment)} WHERE first_record <= $1`;
  }

  create(segment: number): string[] {
    return createSegment(this.table(segment));
  }

  /** A dropped name is never used again, so a drop that comes late does no harm. */
  drop(segment: number): string[] {
    return [
      `SET LOCAL lock_timeout = '${DROP_WAIT}'`,
      `DROP TABLE IF EXISTS ${this.table(segment)}`,
      `DELETE FROM ${this.#names.table('segment')}
       WHERE partition = ${this.#partition} AND number = ${segment}`,
    ];
  }

  /** Writes what an append would write, and takes it back. */
  probe(segment: number): string[] {
    const bytes = `repeat('x', ${PROBE_BYTES})::bytea`;
    return [
      'BEGIN',
      `INSERT INTO ${this.table(segment)} VALUES (-1, 1, 0, 0, 0, ${bytes})`,
      'ROLLBACK',
    ];
  }

  /** Batches from the one that holds record `from` on, about as many as fit into `READ_BYTES`. */
  read(segment: number, from: number): string {
    const table = this.table(segment);
    return `SELECT first_record, record_count, epoch, nonce, crc, bytes FROM (
  SELECT *, sum(octet_length(bytes)) OVER (ORDER BY first_record) - octet_length(bytes) AS before
  FROM (SELECT * FROM ${table} WHERE first_record >= (
    SELECT max(first_record) FROM ${table} WHERE first_record <= ${from})
    ORDER BY first_record LIMIT ${READ_BATCHES}) next) counted
WHERE before < ${READ_BYTES} ORDER BY first_record`;
  }

  table(segment: number): string {
    return this.#names.segment(this.#partition, segment);
  }

  #isHeld(segment: number, epoch: string): string {
    return `partition = ${this.#partition} AND epoch = ${epoch} AND segment = ${segment}`;
  }

  #tailOf(segment: number): string {
    return `coalesce(
  (SELECT first_record + record_count FROM ${this.table(segment)}
   ORDER BY first_record DESC LIMIT 1),
  (SELECT first_record FROM ${this.#names.table('segment')}
   WHERE partition = ${this.#partition} AND number = ${segment}))`;
  }
}
