import type { TempStore } from './store-fixture.ts';

/**
 * From here on the database says that its disk is full whenever a batch is to be stored in one of
 * the tables that exist.
 */
export async function fillDisk(store: TempStore): Promise<void> {
  await store.query(`CREATE OR REPLACE FUNCTION $schema.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$`);
  for (const table of await logTables(store)) {
    await store.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON $schema.${table}
       FOR EACH ROW EXECUTE FUNCTION $schema.refuse()`,
    );
  }
}

export async function freeDisk(store: TempStore): Promise<void> {
  for (const table of await logTables(store)) {
    await store.query(`DROP TRIGGER IF EXISTS refuse ON $schema.${table}`);
  }
}

async function logTables(store: TempStore): Promise<string[]> {
  const { rows } = await store.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'log\\_%'`,
    [store.address.schema],
  );
  return rows.map(({ tablename }) => tablename);
}
