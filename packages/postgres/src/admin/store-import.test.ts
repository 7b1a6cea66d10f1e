import { randomUUID } from 'node:crypto';
import { appendTexts, batchAfter, readTexts } from '@sluice/log/testing/log-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HoldStore } from '../hold/hold-store.ts';
import { TempStore } from '../testing/store-fixture.ts';
import { beginImport, endImport, StoreNotEmptyError } from './store-import.ts';

let store: TempStore;
let hold: HoldStore;
beforeEach(async () => {
  store = await TempStore.create();
  hold = new HoldStore(store.address, randomUUID());
});
afterEach(async () => {
  await hold.close();
  await store.dispose();
});

async function claim(): Promise<number> {
  return (await hold.claim(await hold.look(), '', true)) as number;
}

const from = '/var/lib/sluice';

test('a log begins at the record that the import names, and goes on there', async () => {
  const epoch = await claim();

  await beginImport(store.address, { epoch, from, firstRecord: 700 });

  const log = await store.open({ epoch, isImporting: true });
  const held = await log.acquire();
  expect(held).toEqual({ epoch, first: 700, tail: 700 });
  await appendTexts(log, held, ['a', 'b']);
  expect(await log.extent()).toEqual({ first: 700, tail: 702 });
  expect(await readTexts(log, 700)).toEqual(['a', 'b']);
});

test('until its end nobody opens the log of a store that is imported', async () => {
  const epoch = await claim();
  await beginImport(store.address, { epoch, from, firstRecord: 0 });

  await expect(store.open()).rejects.toThrow(`run 'sluice import --from ${from}' again`);
  await endImport(store.address, epoch);

  expect(await (await store.open()).extent()).toEqual({ first: 0, tail: 0 });
});

test('a store with records is refused and keeps them', async () => {
  const log = await store.open();
  await appendTexts(log, await log.acquire(), ['mine']);
  const epoch = await claim();

  const beginning = beginImport(store.address, { epoch, from, firstRecord: 0 });

  await expect(beginning).rejects.toThrow(StoreNotEmptyError);
  expect(await readTexts(log)).toEqual(['mine']);
});

test('an import that was followed by another claim changes nothing', async () => {
  const epoch = await claim();
  await beginImport(store.address, { epoch, from, firstRecord: 5 });
  const next = await claim();

  const beginning = beginImport(store.address, { epoch, from, firstRecord: 9 });
  await expect(beginning).rejects.toThrow('another process has claimed the store');
  await expect(endImport(store.address, epoch)).rejects.toThrow('another process');

  const log = await store.open({ epoch: next, isImporting: true });
  expect(await log.acquire()).toMatchObject({ first: 5, tail: 5 });
});

test('a second import removes what the first left, and is not disturbed by it', async () => {
  const epoch = await claim();
  await beginImport(store.address, { epoch, from, firstRecord: 5 });
  const log = await store.open({ epoch, isImporting: true });
  const held = await appendTexts(log, await log.acquire(), ['left behind']);
  await store.query('CREATE TABLE $schema.task_0_20261118 (number bigint)');
  await store.query("INSERT INTO $schema.note VALUES ('stats.json', '')");

  const next = await claim();
  await beginImport(store.address, { epoch: next, from: 'elsewhere', firstRecord: 0 });

  expect(await log.append(batchAfter(held))).toBe('fenced');
  const again = await store.open({ epoch: next, isImporting: true });
  expect(await again.acquire()).toEqual({ epoch: next, first: 0, tail: 0 });
  const { rows } = await store.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = '$schema' AND tablename ~ '_0_'",
  );
  expect(rows).toEqual([{ name: 'log_0_2' }]);
  const notes = await store.query('SELECT name FROM $schema.note');
  expect(notes.rows).toEqual([{ name: 'import.unfinished' }]);
});
