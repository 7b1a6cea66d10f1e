import type { TempStore } from './store-fixture.ts';

/** From here on every batch of the log takes this long, such as `700ms`. */
export async function slowDown(store: TempStore, pause: string): Promise<void> {
  await store.query(`CREATE OR REPLACE FUNCTION $schema.pause() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN PERFORM pg_sleep_for('${pause}'); RETURN NEW; END $$`);
  await store.query(`CREATE TRIGGER pause BEFORE INSERT ON $schema.log_0_0
    FOR EACH ROW EXECUTE FUNCTION $schema.pause()`);
}
