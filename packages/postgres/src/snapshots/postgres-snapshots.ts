import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FileSnapshots,
  type NewSnapshot,
  type SaveContent,
  SnapshotDamagedError,
  type SnapshotStore,
  type StoredSnapshot,
  snapshotName,
} from '@sluice/log';
import { FIRST_PARTITION } from '../schema/store-schema.ts';
import { TableNames } from '../schema/table-names.ts';
import { failureOf } from '../session/failures.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';

const PIECE_BYTES = 2 ** 20;

/** Pieces that one statement returns. */
const PIECES_READ = 4;

/** A snapshot reads and saves alone; a second connection is there when the first one breaks. */
const SESSIONS_MAX = 2;

export interface PostgresSnapshotsOptions {
  readonly address: StoreAddress;
  /**
   * Snapshots pass through files of this folder, because the core reads and writes them in one go.
   * Nothing in it is needed later.
   */
  readonly scratchFolder: string;
}

/**
 * Snapshots in PostgreSQL: one table of pieces for each. A snapshot exists once it has a row in
 * `snapshot`, which comes last. Its bytes are those of a snapshot file, with their checksums.
 *
 * A snapshot depends only on the log, so whoever makes one makes the same. A server that was
 * replaced may still save one: it removes only older ones, never a newer one that the log was
 * trimmed for.
 */
export class PostgresSnapshots implements SnapshotStore {
  readonly #pool: SessionPool;
  readonly #names: TableNames;
  readonly #folder: string;
  readonly #files: FileSnapshots;

  private constructor(pool: SessionPool, folder: string, files: FileSnapshots) {
    this.#pool = pool;
    this.#names = new TableNames(pool.address.schema);
    this.#folder = folder;
    this.#files = files;
  }

  static async open(options: PostgresSnapshotsOptions): Promise<PostgresSnapshots> {
    const { address, scratchFolder } = options;
    await rm(scratchFolder, { recursive: true, force: true });
    await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
    const files = await FileSnapshots.open(scratchFolder);
    const pool = new SessionPool({ address, sessionsMax: SESSIONS_MAX });
    return new PostgresSnapshots(pool, scratchFolder, files);
  }

  /**
   * They need no sync: a database that goes back in time loses the trims of the log before it loses
   * the snapshots that the trims relied on.
   */
  async positions(): Promise<readonly number[]> {
    const { rows } = await this.#pool.run((session) =>
      session.query<{ position: string }>(
        `SELECT position FROM ${this.#names.table('snapshot')} WHERE partition = $1
         ORDER BY position DESC`,
        [FIRST_PARTITION],
      ),
    );
    return rows.map(({ position }) => Number(position));
  }

  async open(position: number): Promise<StoredSnapshot> {
    const path = this.#pathOf(position);
    await this.#download(await this.#tableOf(position), path);
    const { pieces, ...header } = await this.#files.open(position);
    return { ...header, pieces: readOnce(pieces, path) };
  }

  async save(snapshot: NewSnapshot, content: SaveContent): Promise<void> {
    const { position, base } = snapshot;
    const path = this.#pathOf(position);
    const table = `${prefixOf(position)}${randomBytes(4).toString('hex')}`;
    try {
      await this.#files.save(snapshot, content);
      await this.#upload(path, table);
    } finally {
      await rm(path, { force: true });
    }
    await this.#pool.run((session) =>
      session.query(
        `INSERT INTO ${this.#names.table('snapshot')} VALUES ($1, $2, $3)
         ON CONFLICT (partition, position) DO UPDATE SET pieces = excluded.pieces`,
        [FIRST_PARTITION, position, table],
      ),
    );
    await this.#removeOlder(position, base);
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #upload(path: string, table: string): Promise<void> {
    const name = this.#names.made(table);
    await this.#pool.run((session) =>
      session.queryAll([
        `CREATE TABLE IF NOT EXISTS ${name} (piece int PRIMARY KEY, bytes bytea NOT NULL)`,
        `ALTER TABLE ${name} ALTER COLUMN bytes SET STORAGE EXTERNAL`,
      ]),
    );
    const insert = `INSERT INTO ${name} VALUES ($1, $2) ON CONFLICT (piece) DO NOTHING`;
    const file = await open(path);
    try {
      const buffer = Buffer.allocUnsafe(PIECE_BYTES);
      for (let piece = 0; ; piece += 1) {
        const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, piece * PIECE_BYTES);
        if (bytesRead === 0) return;
        const bytes = buffer.subarray(0, bytesRead);
        await this.#pool.run((session) => session.query(insert, [piece, bytes]));
      }
    } finally {
      await file.close();
    }
  }

  async #download(table: string, path: string): Promise<void> {
    const file = await open(path, 'w', 0o600);
    try {
      for (let piece = 0, found = PIECES_READ; found === PIECES_READ; piece += found) {
        const pieces = await this.#readPieces(table, piece);
        found = pieces.length;
        for (const bytes of pieces) await file.appendFile(bytes);
      }
    } finally {
      await file.close();
    }
  }

  /** A missing piece shows as a file that is damaged. */
  async #readPieces(table: string, from: number): Promise<readonly Buffer[]> {
    const select = `SELECT bytes FROM ${this.#names.made(table)}
      WHERE piece >= ${from} AND piece < ${from + PIECES_READ} ORDER BY piece`;
    try {
      return await this.#pool.run(async (session) => {
        const pieces: Buffer[] = [];
        await session.copyOut(select, ([bytes]) => pieces.push(Buffer.from(bytes)));
        return pieces;
      });
    } catch (cause) {
      if (failureOf(cause) !== 'missing') throw cause;
      throw new SnapshotDamagedError(table, 'its table is gone');
    }
  }

  async #tableOf(position: number): Promise<string> {
    const { rows } = await this.#pool.run((session) =>
      session.query<{ pieces: string }>(
        `SELECT pieces FROM ${this.#names.table('snapshot')}
         WHERE partition = $1 AND position = $2`,
        [FIRST_PARTITION, position],
      ),
    );
    if (rows.length === 1) return rows[0].pieces;
    throw new Error(`there is no snapshot of record ${position} in ${this.#pool.address.shown}`);
  }

  /** Also tables that a process left which died while it saved. */
  async #removeOlder(position: number, base: number): Promise<void> {
    const { schema } = this.#pool.address;
    await this.#pool.run(async (session) => {
      await session.query(
        `DELETE FROM ${this.#names.table('snapshot')}
         WHERE partition = $1 AND position < $2 AND position <> $3`,
        [FIRST_PARTITION, position, base],
      );
      const { rows } = await session.query<{ name: string }>(
        `SELECT tablename AS name FROM pg_tables
         WHERE schemaname = $1 AND tablename ~ $2 AND split_part(tablename, '_', 3)::bigint <= $3
         AND NOT EXISTS (
           SELECT 1 FROM ${this.#names.table('snapshot')} WHERE pieces = tablename)`,
        [schema, `^snapshot_${FIRST_PARTITION}_[0-9]+_`, position],
      );
      for (const { name } of rows) {
        await session.queryAll([`DROP TABLE IF EXISTS ${this.#names.made(name)}`]);
      }
    });
  }

  #pathOf(position: number): string {
    return join(this.#folder, snapshotName(position));
  }
}

function prefixOf(position: number): string {
  return `snapshot_${FIRST_PARTITION}_${position}_`;
}

/** The file is of no use after it was read, or when its reader stopped. */
function* readOnce(pieces: Iterable<Uint8Array>, path: string): Generator<Uint8Array> {
  try {
    yield* pieces;
  } finally {
    rmSync(path, { force: true });
  }
}
