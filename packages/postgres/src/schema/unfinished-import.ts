import type { Session } from '../session/session.ts';
import type { StoreAddress } from '../session/store-address.ts';
import { StoreSchemaError } from './store-schema.ts';
import { TableNames } from './table-names.ts';

/** A store with a note of this name is incomplete. Its text is the folder that is imported. */
export const UNFINISHED_IMPORT = 'import.unfinished';

/** The folder whose import is running or has failed; undefined when the store is complete. */
export async function unfinishedImport(
  session: Session,
  { schema }: StoreAddress,
): Promise<string | undefined> {
  const { rows } = await session.query<{ content: Buffer }>(
    `SELECT content FROM ${new TableNames(schema).table('note')} WHERE name = $1`,
    [UNFINISHED_IMPORT],
  );
  return rows.at(0)?.content.toString();
}

/** No server starts on an incomplete import. */
export async function refuseUnfinishedImport(
  session: Session,
  address: StoreAddress,
): Promise<void> {
  const folder = await unfinishedImport(session, address);
  if (folder === undefined) return;
  throw new StoreSchemaError(
    `an import into ${address.shown} is running or has failed; if none is running, run ` +
      `'sluice import --from ${folder}' again: it removes what is there and starts over`,
  );
}
