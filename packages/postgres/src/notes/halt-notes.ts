import { TableNames } from '../schema/table-names.ts';
import type { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';
import type { Notes } from './notes.ts';

const PREFIX = 'halted ';

/** A server that has halted, because the database went back in time. */
export interface Halt {
  readonly runId: string;
  /** The note is over when the server has another one: the loss was accepted. */
  readonly generation: string;
  readonly cause: string;
}

/** Records the halt in the store. A server that halts again replaces its record. */
export function writeHalt(notes: Notes, { runId, generation, cause }: Halt): Promise<void> {
  return notes.write(`${PREFIX}${runId}`, JSON.stringify({ generation, cause }));
}

/** Of all servers that ever halted. */
export async function readHalts(session: Session, { schema }: StoreAddress): Promise<Halt[]> {
  const { rows } = await session.query<{ name: string; content: Buffer }>(
    `SELECT name, content FROM ${new TableNames(schema).table('note')}
     WHERE starts_with(name, $1)`,
    [PREFIX],
  );
  return rows.map(({ name, content }) => {
    const { generation, cause } = JSON.parse(content.toString()) as Omit<Halt, 'runId'>;
    return { runId: name.slice(PREFIX.length), generation, cause };
  });
}
