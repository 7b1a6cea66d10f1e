import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SnapshotDamagedError } from '@sluice/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TempStore } from '../testing/store-fixture.ts';
import { PostgresSnapshots } from './postgres-snapshots.ts';

const HEADER = { position: 12_345, schema: 3, hash: 2 ** 52 + 17 };

/** More than fits into the pieces of one statement. */
const PIECES = ['one', 'a second piece', 'x'.repeat(5 * 2 ** 20)];

let store: TempStore;
let folder: string;
let snapshots: PostgresSnapshots;

beforeEach(async () => {
  store = await TempStore.create();
  folder = await mkdtemp(join(tmpdir(), 'sluice-scratch-'));
  snapshots = await openSnapshots('scratch');
});

afterEach(async () => {
  await snapshots.close();
  await rm(folder, { recursive: true });
  await store.dispose();
});

function openSnapshots(name: string): Promise<PostgresSnapshots> {
  const { address } = store;
  return PostgresSnapshots.open({ address, scratchFolder: join(folder, name) });
}

function save(position: number, base = 0, into = snapshots): Promise<void> {
  return into.save({ ...HEADER, position, base }, (write) => {
    for (const piece of PIECES) write(Buffer.from(piece));
  });
}

async function contentOf(position: number): Promise<string[]> {
  const { pieces } = await snapshots.open(position);
  return Array.from(pieces, (piece) => Buffer.from(piece).toString());
}

async function tables(): Promise<string[]> {
  const { rows } = await store.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = $1 AND tablename LIKE 'snapshot\\_%' ORDER BY 1`,
    [store.address.schema],
  );
  return rows.map(({ name }) => name);
}

test('a snapshot is read as it was saved', async () => {
  await save(HEADER.position);

  const { pieces: _, ...header } = await snapshots.open(HEADER.position);

  expect(header).toEqual(HEADER);
  expect((await contentOf(HEADER.position)).map((text) => text.length)).toEqual(
    PIECES.map((text) => text.length),
  );
  expect(await contentOf(HEADER.position)).toEqual(PIECES);
});

test('two snapshots are kept, the newest first', async () => {
  await save(5);
  await save(100, 5);
  await save(20_000, 100);

  expect(await snapshots.positions()).toEqual([20_000, 100]);
  expect(await tables()).toHaveLength(2);
});

test('nothing stays in the scratch folder', async () => {
  await save(5);
  await contentOf(5);

  expect(await readdir(join(folder, 'scratch'))).toEqual([]);
});

test('a content that fails leaves nothing behind and does not touch the others', async () => {
  await save(1);
  const failing = snapshots.save({ ...HEADER, position: 2, base: 1 }, (write) => {
    write(Buffer.from('half'));
    throw new Error('no more');
  });

  await expect(failing).rejects.toThrow('no more');
  expect(await snapshots.positions()).toEqual([1]);
  expect(await tables()).toHaveLength(1);
});

test('what a process that died left behind is no snapshot and goes with the next', async () => {
  await store.query('CREATE TABLE $schema.snapshot_0_9_abcdef01 (piece int, bytes bytea)');

  expect(await snapshots.positions()).toEqual([]);
  await save(10);
  expect(await tables()).toEqual([expect.stringMatching(/^snapshot_0_10_/)]);
});

test('a server that was replaced removes no newer snapshot', async () => {
  const late = await openSnapshots('late');
  await save(5);
  await save(100, 5);

  await save(50, 5, late);

  expect(await snapshots.positions()).toEqual([100, 50, 5]);
  expect(await contentOf(100)).toEqual(PIECES);
  await late.close();
});

test('a snapshot that is saved again replaces the first', async () => {
  await save(5);
  const [first] = await tables();

  await save(5);

  expect(await tables()).not.toContain(first);
  expect(await contentOf(5)).toEqual(PIECES);
});

test.each([
  ['a changed byte', `UPDATE $schema.$table SET bytes = set_byte(bytes, 99, 7) WHERE piece = 2`],
  ['a missing piece', 'DELETE FROM $schema.$table WHERE piece = 1'],
  ['a missing end', 'DELETE FROM $schema.$table WHERE piece = 5'],
  ['no piece at all', 'DELETE FROM $schema.$table'],
  ['a missing table', 'DROP TABLE $schema.$table'],
])('%s is noticed', async (_, damage) => {
  await save(5);
  const [table] = await tables();
  await store.query(damage.replaceAll('$table', table));

  await expect(contentOf(5)).rejects.toThrow(SnapshotDamagedError);
});

test('a snapshot that is gone is an error of its own', async () => {
  await expect(snapshots.open(7)).rejects.toThrow('there is no snapshot of record 7');
});
