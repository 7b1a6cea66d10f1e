import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobRows } from '@sluice/postgres';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BLOB_KEPT_MS, BlobStore } from '../../packages/server/src/blobs/blob-store.ts';

/** More than two pieces. */
const CONTENT = Buffer.from('0123456789'.repeat(60_000));
const KEY = { namespace: 'default', sha256: createHash('sha256').update(CONTENT).digest('hex') };

let store: TempStore;
let folder: string;
let shelf: BlobRows;
let blobs: BlobStore;
let damaged: string[];
let now: number;

beforeEach(async () => {
  store = await TempStore.create();
  folder = await mkdtemp(join(tmpdir(), 'sluice-scratch-'));
  damaged = [];
  now = 1_900_000_000_000;
  await open();
});

afterEach(async () => {
  await shelf.close();
  await rm(folder, { recursive: true });
  await store.dispose();
});

async function open(): Promise<void> {
  shelf = new BlobRows({ address: store.address, scratchFolder: join(folder, 'blobs') });
  blobs = await BlobStore.open({
    folder,
    shelf,
    clock: () => now,
    onDamaged: (place) => damaged.push(place),
  });
}

async function* bodyOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

function put(key = KEY): Promise<number> {
  return blobs.put(key, bodyOf(CONTENT.subarray(0, 9), CONTENT.subarray(9)), CONTENT.length);
}

async function contentOf(key = KEY): Promise<Buffer | undefined> {
  const found = await blobs.get(key);
  return found && Buffer.concat(await allOf<Uint8Array>(found.body));
}

async function count(table: string): Promise<number> {
  return (await store.query(`SELECT 1 FROM $schema.${table}`)).count;
}

test('a blob is read as it was sent, also by the next server', async () => {
  expect(await put()).toBe(CONTENT.length);
  expect(await put()).toBe(CONTENT.length);

  await shelf.close();
  await open();

  expect(await contentOf()).toEqual(CONTENT);
  expect(await contentOf({ ...KEY, namespace: 'other' })).toBeUndefined();
  expect(await count('blob_upload')).toBe(0);
  expect(await readdir(join(folder, 'blobs'))).toEqual([]);
});

test('a body with another hash is refused and leaves nothing', async () => {
  const key = { ...KEY, sha256: '0'.repeat(64) };

  await expect(put(key)).rejects.toThrow('have the SHA-256');

  expect(await contentOf(key)).toBeUndefined();
  expect(await count('blob_piece')).toBe(0);
});

test('the same blob sent by two at once is stored once', async () => {
  const twin = new BlobRows({ address: store.address, scratchFolder: join(folder, 'twin') });
  const clock = () => now;
  const other = await BlobStore.open({ folder, shelf: twin, clock, onDamaged: () => undefined });

  await Promise.all([put(), other.put(KEY, bodyOf(CONTENT), CONTENT.length)]);

  expect(await contentOf()).toEqual(CONTENT);
  expect(await count('blob')).toBe(1);
  expect(await count('blob_piece')).toBe(Math.ceil(CONTENT.length / (256 * 1024)));
  await twin.close();
});

test.each([
  ['changed', 'UPDATE $schema.blob_piece SET bytes = set_byte(bytes, 5, 0) WHERE piece = 1'],
  ['missing', 'DELETE FROM $schema.blob_piece WHERE piece = 1'],
])('a blob with a %s piece is not handed out, and set aside', async (_, damage) => {
  await put();
  await store.query(damage);

  await expect(contentOf()).rejects.toThrow('was damaged');

  expect(damaged).toEqual([`.damaged/default/${KEY.sha256}`]);
  expect(await contentOf()).toBeUndefined();
  expect(await allOf(blobs.list())).toEqual([]);
  await put();
  expect(await contentOf()).toEqual(CONTENT);
});

test('a blob that nobody used for a day is removed whole, unless it is held', async () => {
  await put();
  now += BLOB_KEPT_MS - 1;
  expect(await blobs.remove(KEY)).toBe(false);
  now += 2;
  const { release } = await blobs.hold(KEY.namespace, [KEY.sha256]);
  expect(await blobs.remove(KEY)).toBe(false);
  release();

  now += BLOB_KEPT_MS + 1;

  expect(await blobs.remove(KEY)).toBe(true);
  expect(await count('blob_piece')).toBe(0);
  expect((await blobs.hold(KEY.namespace, [KEY.sha256])).missing).toEqual(new Set([KEY.sha256]));
});

test('what an upload left that never ended is removed a day later', async () => {
  await put();
  const dead = '00000000-0000-4000-8000-000000000001';
  await store.query('INSERT INTO $schema.blob_upload VALUES ($1, now())', [dead]);
  await store.query(`INSERT INTO $schema.blob_piece VALUES ($1, 0, 'half')`, [dead]);
  await shelf.open();
  expect(await count('blob_upload')).toBe(1);

  await store.query(`UPDATE $schema.blob_upload SET began_at = now() - interval '25 hours'`);
  await shelf.open();

  expect(await count('blob_upload')).toBe(0);
  expect(await contentOf()).toEqual(CONTENT);
});

test('all blobs are listed, with their sizes and times', async () => {
  await put();
  await put({ ...KEY, namespace: 'shop' });

  const listed = (await allOf(blobs.list())).flat();

  const bytes = CONTENT.length;
  expect(listed).toEqual([
    { ...KEY, bytes, usedAt: now },
    { ...KEY, namespace: 'shop', bytes, usedAt: now },
  ]);
});
