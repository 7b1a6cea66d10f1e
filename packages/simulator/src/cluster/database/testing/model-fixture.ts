import type { StoreAddress } from '@sluice/postgres';
import { SimDatabase } from '../sim-database.ts';
import { SimDriver } from '../sim-driver.ts';

/** Everything happens soon, in the order in which it was sent. */
const soon = (run: () => void) => void setImmediate(run);

/** A model of the database in real time, and where to find it. */
export function openModel(): { readonly database: SimDatabase; readonly address: StoreAddress } {
  const after = (delayMs: number, run: () => void) => setTimeout(run, delayMs);
  const database = new SimDatabase({ after, clock: Date.now, statementMs: () => 0 });
  const wire = { host: 'test', toDatabase: soon, toClient: soon };
  const makeClient = (name: string) => new SimDriver(database, wire, name) as never;
  return { database, address: { url: '', schema: 'sluice', shown: 'the model', makeClient } };
}
