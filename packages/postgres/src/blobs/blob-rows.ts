import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TableNames } from '../schema/table-names.ts';
import { failureOf } from '../session/failures.ts';
import type { Answer, Session } from '../session/session.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';

/** A blob of one namespace. */
interface BlobKey {
  readonly namespace: string;
  readonly sha256: string;
}

interface StoredBlob extends BlobKey {
  readonly bytes: number;
  /** When it was last uploaded, named by a task, or found named by a sweep. */
  readonly usedAt: number;
}

interface ReadableBlob {
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

interface BlobRow {
  readonly namespace: string;
  readonly sha256: string;
  readonly upload: string;
  readonly bytes: number;
  readonly usedAt: number;
}

export interface BlobRowsOptions {
  readonly address: StoreAddress;
  /** Uploads are received in files of this folder, and checked there. */
  readonly scratchFolder: string;
}

const PIECE_BYTES = 256 * 1024;

/** Blobs that one statement lists. */
const LISTED_AT_ONCE = 1_000;

const SESSIONS_MAX = 4;

/** A statement of an upload or a download that takes longer is given up, and so is the request. */
const ANSWER_MS_MAX = 5_000;

/**
 * A statement that waits for a lock ends a little earlier by itself: the database would not notice
 * that its connection was cut.
 */
const LOCK_WAIT_MS = 4_000;

const LOCK_NOT_AVAILABLE = '55P03';

/** The database does not take or give blobs now. */
class BlobsAwayError extends Error {
  override readonly name = 'BlobsAwayError';
}

/** An upload that began longer ago than this was left by a process that died. */
const UPLOAD_MAX = '1 day';

/** No namespace has a slash in its name. */
const DAMAGED = '.damaged/';

const COLUMNS = 'namespace, sha256, upload, bytes::float8 AS bytes, used_at::float8 AS "usedAt"';

/**
 * Blobs in PostgreSQL, in pieces. A blob exists once it has a row in `blob`, which comes last; the
 * pieces of an upload that never got there are removed a day later.
 */
export class BlobRows {
  readonly #pool: SessionPool;
  readonly #folder: string;
  readonly #blob: string;
  readonly #piece: string;
  readonly #upload: string;
  /** Connections that wait for locks only for a while. */
  readonly #limited = new WeakSet<Session>();

  constructor({ address, scratchFolder }: BlobRowsOptions) {
    const names = new TableNames(address.schema);
    this.#pool = new SessionPool({ address, sessionsMax: SESSIONS_MAX });
    this.#folder = scratchFolder;
    this.#blob = names.table('blob');
    this.#piece = names.table('blob_piece');
    this.#upload = names.table('blob_upload');
  }

  async open(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#query(
      `WITH gone AS (DELETE FROM ${this.#upload}
        WHERE began_at < clock_timestamp() - interval '${UPLOAD_MAX}' RETURNING upload)
      DELETE FROM ${this.#piece} USING gone WHERE ${this.#piece}.upload = gone.upload
      AND NOT EXISTS (SELECT 1 FROM ${this.#blob} WHERE upload = gone.upload)`,
    );
  }

  newUnfinished(): string {
    return join(this.#folder, randomUUID());
  }

  /** Stores a received file, whose content was checked. If the blob is there already, it stays. */
  async finish(unfinished: string, { namespace, sha256 }: BlobKey): Promise<void> {
    const upload = randomUUID();
    try {
      await this.#ask(`INSERT INTO ${this.#upload} VALUES ($1, clock_timestamp())`, [upload]);
      const bytes = await this.#send(unfinished, upload);
      // Another server may have removed an upload that takes more than a day.
      await this.#ask(
        `INSERT INTO ${this.#blob} SELECT $1, $2, upload, $4, 0 FROM ${this.#upload}
        WHERE upload = $3 ON CONFLICT (namespace, sha256) DO NOTHING`,
        [namespace, sha256, upload, bytes],
      );
      const stored = await this.#find({ namespace, sha256 });
      if (stored === undefined) throw new Error(`the upload of blob ${sha256} took too long`);
      await this.#forget(upload, { withPieces: stored.upload !== upload });
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  async read(key: BlobKey): Promise<ReadableBlob | undefined> {
    const found = await this.#find(key);
    if (found === undefined) return undefined;
    return { bytes: found.bytes, chunks: this.#chunks(found.upload), close: async () => undefined };
  }

  async stat(key: BlobKey): Promise<StoredBlob | undefined> {
    const found = await this.#find(key);
    return found && { ...key, bytes: found.bytes, usedAt: found.usedAt };
  }

  async touch({ namespace, sha256 }: BlobKey, at: number): Promise<boolean> {
    const { count } = await this.#ask(
      `UPDATE ${this.#blob} SET used_at = $3 WHERE namespace = $1 AND sha256 = $2`,
      [namespace, sha256, Math.floor(at)],
    );
    return count > 0;
  }

  /** Not if it was used at `unusedSince` or later: another server may have named it meanwhile. */
  async remove(
    { namespace, sha256 }: BlobKey,
    unusedSince = Number.MAX_SAFE_INTEGER,
  ): Promise<void> {
    await this.#query(
      `WITH gone AS (DELETE FROM ${this.#blob} WHERE namespace = $1 AND sha256 = $2
        AND used_at < $3 RETURNING upload)
      DELETE FROM ${this.#piece} USING gone WHERE ${this.#piece}.upload = gone.upload`,
      [namespace, sha256, Math.floor(unusedSince)],
    );
  }

  /** Keeps a blob whose content does not match its name, for inspection. Returns its new name. */
  async setAside({ namespace, sha256 }: BlobKey): Promise<string> {
    const aside = `${DAMAGED}${namespace}`;
    await this.remove({ namespace: aside, sha256 });
    await this.#query(
      `UPDATE ${this.#blob} SET namespace = $3 WHERE namespace = $1 AND sha256 = $2`,
      [namespace, sha256, aside],
    );
    return `${aside}/${sha256}`;
  }

  /** All blobs, in parts. Blobs that come or go meanwhile may be included. */
  async *list(): AsyncGenerator<StoredBlob[]> {
    for (let last: BlobKey = { namespace: '', sha256: '' }; ; ) {
      const { rows } = await this.#query<BlobRow>(
        `SELECT ${COLUMNS} FROM ${this.#blob} WHERE (namespace, sha256) > ($1, $2)
        AND NOT starts_with(namespace, '${DAMAGED}')
        ORDER BY namespace, sha256 LIMIT ${LISTED_AT_ONCE}`,
        [last.namespace, last.sha256],
      );
      if (rows.length === 0) return;
      yield rows.map(({ upload: _, ...blob }) => blob);
      last = rows[rows.length - 1];
    }
  }

  /** The database says so when it has no room. */
  async roomBytes(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #forget(upload: string, { withPieces }: { readonly withPieces: boolean }): Promise<void> {
    if (withPieces) await this.#query(`DELETE FROM ${this.#piece} WHERE upload = $1`, [upload]);
    await this.#query(`DELETE FROM ${this.#upload} WHERE upload = $1`, [upload]);
  }

  /** Returns the length of the file. */
  async #send(path: string, upload: string): Promise<number> {
    const insert = `INSERT INTO ${this.#piece} VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
    const file = await open(path);
    try {
      const buffer = Buffer.allocUnsafe(PIECE_BYTES);
      for (let piece = 0, bytes = 0; ; piece += 1) {
        const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, bytes);
        if (bytesRead === 0) return bytes;
        await this.#ask(insert, [upload, piece, buffer.subarray(0, bytesRead)]);
        bytes += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  async *#chunks(upload: string): AsyncGenerator<Uint8Array> {
    for (let piece = 0; ; piece += 1) {
      const { rows } = await this.#ask<{ bytes: Buffer }>(
        `SELECT bytes FROM ${this.#piece} WHERE upload = $1 AND piece = $2`,
        [upload, piece],
      );
      if (rows.length === 0) return;
      yield rows[0].bytes;
    }
  }

  async #find({ namespace, sha256 }: BlobKey): Promise<BlobRow | undefined> {
    const { rows } = await this.#ask<BlobRow>(
      `SELECT ${COLUMNS} FROM ${this.#blob} WHERE namespace = $1 AND sha256 = $2`,
      [namespace, sha256],
    );
    return rows.at(0);
  }

  /** For a request: it is refused while there is no answer. */
  async #ask<Row extends object>(text: string, values: readonly unknown[]): Promise<Answer<Row>> {
    try {
      return await this.#pool.run(async (session) => {
        await this.#limitLocks(session);
        return session.queryWithin<Row>(ANSWER_MS_MAX, text, values);
      }, ANSWER_MS_MAX);
    } catch (cause) {
      const { code } = cause as { readonly code?: string };
      if (failureOf(cause) !== 'unreachable' && code !== LOCK_NOT_AVAILABLE) throw cause;
      throw new BlobsAwayError((cause as Error).message, { cause });
    }
  }

  async #limitLocks(session: Session): Promise<void> {
    if (this.#limited.has(session)) return;
    const limit = `SELECT set_config('lock_timeout', '${LOCK_WAIT_MS}', false)`;
    await session.queryWithin(ANSWER_MS_MAX, limit);
    this.#limited.add(session);
  }

  #query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    return this.#pool.run((session) => session.query<Row>(text, values));
  }
}
