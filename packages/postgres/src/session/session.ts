import type { Socket } from 'node:net';
import { DatabaseError, Client as PgClient, type Submittable } from 'pg';
import { CopyOut } from './copy-out.ts';
import type { StoreAddress } from './store-address.ts';

/** The server closed the connection, or could not be reached. The outcome of a write is unknown. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';

  constructor(address: StoreAddress, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`no connection to ${address.shown}: ${reason}`, { cause });
  }
}

/** Longer than any connection takes that works. */
const CONNECT_MS_MAX = 5_000;

/** A server that vanished is noticed although nothing is sent to it. */
const KEEP_ALIVE_MS = 5_000;

/**
 * Every commit waits for the disk, and for synchronous replicas if there are any. A stronger
 * setting of the database stays.
 */
const SETTINGS = `SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`;

export interface Answer<Row> {
  readonly rows: readonly Row[];
  /** How many rows the statement inserted, changed, deleted or returned. */
  readonly count: number;
}

/** One connection to the store. It sends one statement at a time, each its own transaction. */
export class Session {
  /** Names the connection in `pg_stat_activity`. */
  readonly name: string;
  readonly #address: StoreAddress;
  readonly #client: PgClient;
  /** Set by the first failure of the connection, and by `end`. */
  #isBroken = false;

  private constructor(address: StoreAddress, name: string) {
    this.name = name;
    this.#address = address;
    this.#client = address.makeClient?.(name) ?? makeClient(address, name);
    this.#client.on('error', () => {
      this.#isBroken = true;
    });
    this.#client.on('end', () => {
      this.#isBroken = true;
    });
  }

  /** Rejects with a `ConnectionLostError`, or with what the server said. */
  static async open(address: StoreAddress, name: string): Promise<Session> {
    const session = new Session(address, name);
    try {
      await session.#client.connect();
    } catch (cause) {
      throw cause instanceof DatabaseError ? cause : new ConnectionLostError(address, cause);
    }
    try {
      await session.queryWithin(CONNECT_MS_MAX, SETTINGS);
    } catch (cause) {
      session.cut();
      throw cause;
    }
    return session;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  async query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Answer<Row>> {
    try {
      const { rows, rowCount } = await this.#client.query<Row>(text, [...values]);
      return { rows, count: rowCount ?? 0 };
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  /** As `query`, but a connection that does not answer in time is cut. */
  async queryWithin<Row extends object>(
    timeoutMs: number,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Answer<Row>> {
    const silence = setTimeout(() => this.cut(), timeoutMs);
    try {
      return await this.query<Row>(text, values);
    } finally {
      clearTimeout(silence);
    }
  }

  /** Sends several statements without values at once; they are one transaction. */
  async queryAll(statements: readonly string[]): Promise<void> {
    try {
      await this.#client.query(statements.join(';\n'));
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  /** Passes the fields of each row of `select` to `onRow`; they are valid during the call only. */
  async copyOut(select: string, onRow: (fields: readonly Buffer[]) => void): Promise<void> {
    const copy = new CopyOut(select, onRow);
    this.#client.query(copy as Submittable);
    try {
      await copy.finished;
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  /** Closes the connection. A statement under way goes on in the server. */
  async end(): Promise<void> {
    this.#isBroken = true;
    await this.#client.end();
  }

  /** Closes the connection at once, also when the other side does not answer. */
  cut(): void {
    this.#isBroken = true;
    const { stream } = (this.#client as unknown as { connection: { stream: Socket } }).connection;
    stream.destroy(new Error('no answer'));
  }

  #failed(cause: unknown): unknown {
    if (cause instanceof DatabaseError) return cause;
    return this.#isBroken ? new ConnectionLostError(this.#address, cause) : cause;
  }
}

function makeClient({ url }: StoreAddress, name: string): PgClient {
  return new PgClient({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
}
