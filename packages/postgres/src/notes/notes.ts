import { TableNames } from '../schema/table-names.ts';
import { SessionPool } from '../session/session-pool.ts';
import type { StoreAddress } from '../session/store-address.ts';

/** Small texts by name, as a server keeps them in files otherwise. A write is durable. */
export class Notes {
  readonly #pool: SessionPool;
  readonly #table: string;

  constructor(address: StoreAddress) {
    this.#pool = new SessionPool({ address, sessionsMax: 1 });
    this.#table = new TableNames(address.schema).table('note');
  }

  async read(name: string): Promise<string | undefined> {
    const { rows } = await this.#pool.run((session) =>
      session.query<{ content: Buffer }>(`SELECT content FROM ${this.#table} WHERE name = $1`, [
        name,
      ]),
    );
    return rows.at(0)?.content.toString();
  }

  async write(name: string, content: string): Promise<void> {
    await this.#pool.run((session) =>
      session.query(
        `INSERT INTO ${this.#table} VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET content = excluded.content`,
        [name, Buffer.from(content)],
      ),
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
