import { afterEach, expect, inject, test } from 'vitest';
import { PostgresLog } from '../log/postgres-log.ts';
import { Session } from '../session/session.ts';
import { parseStoreAddress } from '../session/store-address.ts';
import { PostgresServer } from '../testing/postgres-server.ts';
import { TempStore } from '../testing/store-fixture.ts';
import { checkSchema, initStore, StoreSchemaError } from './store-schema.ts';
import { problemsOf, StoreSettingsError } from './store-settings.ts';

let server: PostgresServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

test('a database that would lose acknowledged tasks is refused, with every reason', async () => {
  server = await PostgresServer.start({ fsync: 'off', full_page_writes: 'off' });
  const address = parseStoreAddress(server.address);

  const opening = PostgresLog.open({ address });

  await expect(opening).rejects.toThrow(StoreSettingsError);
  await expect(opening).rejects.toThrow(
    "'fsync' is off, set it to on; 'full_page_writes' is off, set it to on",
  );
});

test('a version that is too old is refused', () => {
  const settings = new Map([
    ['server_version_num', '130022'],
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
  ]);

  expect(problemsOf(settings)).toEqual(['it is PostgreSQL 13, use 14 or newer']);
  expect(problemsOf(new Map([...settings, ['server_version_num', '140000']]))).toEqual([]);
});

test('sessions wait for the disk, whatever the database says', async () => {
  server = await PostgresServer.start({ synchronous_commit: 'off' });
  const session = await Session.open(parseStoreAddress(server.address), 'test');

  const { rows } = await session.query('SHOW synchronous_commit');

  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  await session.end();
});

test('a log without tables is refused with the command that makes them', async () => {
  const address = parseStoreAddress(`${inject('postgresAddress')}?schema=nothing_here`);

  const opening = PostgresLog.open({ address });

  await expect(opening).rejects.toThrow(StoreSchemaError);
  await expect(opening).rejects.toThrow("make it with 'sluice cluster init'");
});

test('tables are made once, though several ask for them at once', async () => {
  const store = await TempStore.create();
  const address = { ...store.address, schema: `${store.address.schema}_twice` };
  const sessions = await Promise.all(
    Array.from({ length: 4 }, () => Session.open(address, 'test')),
  );

  const made = await Promise.all(sessions.map((session) => initStore(session, address, 1)));

  expect(made.filter((each) => each)).toHaveLength(1);
  await checkSchema(sessions[0], address);
  await store.query('DROP SCHEMA $schema_twice CASCADE');
  for (const session of sessions) await session.end();
  await store.dispose();
});

test('tables of another version are refused', async () => {
  const store = await TempStore.create();
  await store.query('UPDATE $schema.cluster SET schema = 2');

  await expect(store.open()).rejects.toThrow('has schema 2 and this version knows 1');

  await store.dispose();
});
