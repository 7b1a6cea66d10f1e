import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runSluice } from '../support/sluice-command.ts';

let database: PostgresServer;
let store: TempStore;

beforeEach(async () => {
  database = await PostgresServer.start({ fsync: 'off' });
  store = await TempStore.create(database.address);
});

afterEach(async () => {
  await store.dispose();
  await database.stop();
});

test('the status names settings of the database that would lose data', async () => {
  const text = await runSluice(['cluster', 'status', '--store', store.text]);
  const json = await runSluice(['cluster', 'status', '--store', store.text, '--json']);

  expect(text.stdout).toContain("\nPROBLEM: 'fsync' is off, set it to on\n");
  expect(JSON.parse(json.stdout).problems).toEqual(["'fsync' is off, set it to on"]);
  expect([text.code, json.code]).toEqual([0, 0]);
});
