import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { PostgresLog, type PostgresLogOptions } from '../log/postgres-log.ts';
import { initStore } from '../schema/store-schema.ts';
import { type Answer, Session } from '../session/session.ts';
import { parseStoreAddress, type StoreAddress } from '../session/store-address.ts';

/** The newest level: this package does not know the core, so a test compares them. */
export const STORE_LEVEL = 2;

/** An empty store in a schema of the server, and the logs opened in it. */
export class TempStore {
  readonly address: StoreAddress;
  /** The address as a user writes it. */
  readonly text: string;
  readonly #admin: Session;
  readonly #logs: PostgresLog[] = [];

  private constructor(text: string, address: StoreAddress, admin: Session) {
    this.text = text;
    this.address = address;
    this.#admin = admin;
  }

  /** In the server of the test run unless `server` is the address of another. */
  static async create(server = inject('postgresAddress'), level = STORE_LEVEL): Promise<TempStore> {
    const schema = `test_${randomBytes(6).toString('hex')}`;
    const text = `${server}?schema=${schema}`;
    const address = parseStoreAddress(text);
    const admin = await Session.open(address, 'test');
    await initStore(admin, address, level);
    return new TempStore(text, address, admin);
  }

  async open(options: Partial<PostgresLogOptions> = {}): Promise<PostgresLog> {
    const log = await PostgresLog.open({ address: this.address, probeMs: 20, ...options });
    this.#logs.push(log);
    return log;
  }

  async closeLogs(): Promise<void> {
    for (const log of this.#logs.splice(0)) await log.close();
  }

  /** One more connection, which the test has to end. Rejects when there is no room for it. */
  connect(): Promise<Session> {
    return Session.open(this.address, 'test');
  }

  /** A connection to any server, which the test has to end. */
  static connectTo(server: string): Promise<Session> {
    return Session.open(parseStoreAddress(server), 'test');
  }

  /** Runs a statement of the test; `$schema` stands for the schema. */
  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    return this.#admin.query<Row>(text.replaceAll('$schema', this.address.schema), values);
  }

  async dispose(): Promise<void> {
    await this.closeLogs();
    await this.query('DROP SCHEMA $schema CASCADE');
    await this.#admin.end();
  }
}
