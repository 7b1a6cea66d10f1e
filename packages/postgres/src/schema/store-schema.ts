import { randomBytes } from 'node:crypto';
import { failureOf } from '../session/failures.ts';
import { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';
import { TableNames } from './table-names.ts';

/** Counts up with every change that an older server could not work with. */
const STORE_SCHEMA = 1;

/** The partition that everything belongs to until there are more. */
export const FIRST_PARTITION = 0;

/** Any number that others are unlikely to use: two set-ups at once would collide. */
const SETUP_LOCK = 7_420_001;

/** There is no usable store at the address. */
export class StoreSchemaError extends Error {
  override readonly name = 'StoreSchemaError';
}

/**
 * Batches are stored as they are: compressing them would cost more than it saves, and nobody reads
 * a part of one.
 */
export function createSegment(table: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
      first_record bigint PRIMARY KEY,
      record_count bigint NOT NULL,
      epoch bigint NOT NULL,
      nonce bigint NOT NULL,
      crc bigint NOT NULL,
      bytes bytea NOT NULL)`,
    `ALTER TABLE ${table} ALTER COLUMN bytes SET STORAGE EXTERNAL`,
  ];
}

function createBlobs(names: TableNames): string[] {
  return [
    `CREATE TABLE ${names.table('blob')} (
      namespace text,
      sha256 text,
      upload uuid NOT NULL,
      bytes bigint NOT NULL,
      used_at bigint NOT NULL,
      PRIMARY KEY (namespace, sha256))`,
    `CREATE TABLE ${names.table('blob_piece')} (
      upload uuid,
      piece int,
      bytes bytea NOT NULL,
      PRIMARY KEY (upload, piece))`,
    `ALTER TABLE ${names.table('blob_piece')} ALTER COLUMN bytes SET STORAGE EXTERNAL`,
    `CREATE TABLE ${names.table('blob_upload')} (
      upload uuid PRIMARY KEY,
      began_at timestamptz NOT NULL)`,
  ];
}

/**
 * No foreign keys: their checks would lock rows of `partition`, and a claim must wait for appends
 * alone.
 */
function createTables(names: TableNames, level: number): string[] {
  return [
    `CREATE SCHEMA IF NOT EXISTS ${names.schema}`,
    `CREATE TABLE ${names.table('cluster')} (
      schema int NOT NULL,
      secret bytea NOT NULL,
      level int NOT NULL)`,
    `CREATE TABLE ${names.table('partition')} (
      partition int PRIMARY KEY,
      epoch bigint NOT NULL,
      first_record bigint NOT NULL,
      segment int NOT NULL,
      judged bigint NOT NULL)`,
    `CREATE TABLE ${names.table('hold')} (
      partition int PRIMARY KEY,
      epoch bigint NOT NULL,
      run_id uuid,
      address text,
      renewals bigint NOT NULL,
      expires_at timestamptz NOT NULL,
      hand_off boolean NOT NULL)`,
    `CREATE TABLE ${names.table('segment')} (
      partition int,
      number int,
      first_record bigint NOT NULL,
      PRIMARY KEY (partition, number))`,
    `CREATE TABLE ${names.table('snapshot')} (
      partition int,
      position bigint,
      pieces text NOT NULL,
      PRIMARY KEY (partition, position))`,
    `CREATE TABLE ${names.table('mark')} (
      partition int PRIMARY KEY,
      position bigint NOT NULL,
      at bigint NOT NULL,
      rebuild_to bigint NOT NULL)`,
    `CREATE TABLE ${names.table('program')} (
      partition int,
      place int,
      program bytea NOT NULL,
      PRIMARY KEY (partition, place))`,
    ...createBlobs(names),
    `CREATE TABLE ${names.table('note')} (name text PRIMARY KEY, content bytea NOT NULL)`,
    `CREATE TABLE ${names.table('server')} (
      run_id uuid PRIMARY KEY,
      address text NOT NULL,
      version text NOT NULL,
      position bigint NOT NULL,
      generation text NOT NULL,
      level int NOT NULL,
      seen_at timestamptz NOT NULL)`,
    ...createSegment(names.segment(FIRST_PARTITION, 0)),
    `INSERT INTO ${names.table('segment')} VALUES (${FIRST_PARTITION}, 0, 0)`,
    `INSERT INTO ${names.table('partition')} VALUES (${FIRST_PARTITION}, 0, 0, 0, 0)`,
    `INSERT INTO ${names.table('hold')}
      VALUES (${FIRST_PARTITION}, 0, NULL, NULL, 0, clock_timestamp(), false)`,
    `INSERT INTO ${names.table('cluster')}
      VALUES (${STORE_SCHEMA}, '\\x${randomBytes(32).toString('hex')}', ${level})`,
  ];
}

/** Makes the tables, all or none. Returns false if they are there already. */
export async function initStore(
  session: Session,
  address: StoreAddress,
  level: number,
): Promise<boolean> {
  const names = new TableNames(address.schema);
  if ((await schemaOf(session, names)) !== undefined) {
    await checkSchema(session, address);
    return false;
  }
  try {
    const lock = `SELECT pg_advisory_xact_lock(${SETUP_LOCK})`;
    await session.queryAll([lock, ...createTables(names, level)]);
    return true;
  } catch (cause) {
    // Somebody else made them meanwhile.
    if ((await schemaOf(session, names)) !== undefined) return false;
    throw cause;
  }
}

/** Rejects with a `StoreSchemaError` unless the tables are there and of a known form. */
export async function checkSchema(session: Session, address: StoreAddress): Promise<void> {
  const found = await schemaOf(session, new TableNames(address.schema));
  if (found === STORE_SCHEMA) return;
  throw new StoreSchemaError(
    found === undefined
      ? `there is no store in ${address.shown}; make it with 'sluice cluster init'`
      : `the store in ${address.shown} has schema ${found} and this version knows ` +
          `${STORE_SCHEMA}; run the version of Sluice that belongs to it`,
  );
}

/** What the servers of a cluster sign their words to each other with. */
export async function readSecret(address: StoreAddress): Promise<Buffer> {
  const names = new TableNames(address.schema);
  const session = await Session.open(address, 'sluice start');
  try {
    const { rows } = await session.query<{ secret: Buffer }>(
      `SELECT secret FROM ${names.table('cluster')}`,
    );
    return rows[0].secret;
  } finally {
    await session.end();
  }
}

/** Undefined when there are no tables. */
async function schemaOf(session: Session, names: TableNames): Promise<number | undefined> {
  try {
    const { rows } = await session.query<{ schema: number }>(
      `SELECT schema FROM ${names.table('cluster')}`,
    );
    return rows.at(0)?.schema;
  } catch (cause) {
    if (failureOf(cause) === 'missing') return undefined;
    throw cause;
  }
}
