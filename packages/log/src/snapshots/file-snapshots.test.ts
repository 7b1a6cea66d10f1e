import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type SaveContent,
  SnapshotDamagedError,
  type SnapshotStore,
} from '../contract/snapshot-store.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { FileSnapshots } from './file-snapshots.ts';

const HEADER = { position: 12_345, schema: 3, hash: 2 ** 52 + 17 };
const PIECES = ['one', 'a second piece', 'x'.repeat(1000)];

let temp: TempFolder;
let folder: string;
let store: FileSnapshots;

beforeEach(async () => {
  temp = await TempFolder.create();
  folder = join(temp.path, 'data', 'snapshots');
  store = await FileSnapshots.open(folder);
});

afterEach(() => temp.dispose());

test('a snapshot is read as it was saved', async () => {
  await save(store, HEADER.position);

  const { pieces, ...header } = await store.open(HEADER.position);

  expect(header).toEqual(HEADER);
  expect(Array.from(pieces, textOf)).toEqual(PIECES);
});

test('a piece lives in memory that is used again while it is saved', async () => {
  const memory = Buffer.from('....');
  await store.save({ ...HEADER, base: 0 }, (write) => {
    for (const text of ['abcd', 'efgh']) {
      memory.write(text);
      write(memory);
      memory.fill('-');
    }
  });

  expect(await contentOf(HEADER.position)).toEqual(['abcd', 'efgh']);
});

test('two snapshots are kept, the newest first', async () => {
  await save(store, 5);
  await save(store, 100, 5);
  await save(store, 20_000, 100);

  expect(await store.positions()).toEqual([20_000, 100]);
  expect(await readdir(folder)).toHaveLength(2);
});

test('the one that it was made from stays, and not a newer one that is damaged', async () => {
  await save(store, 5);
  await save(store, 100, 5);
  await truncate(fileOf(100), 60);

  await save(store, 20_000, 5);

  expect(await store.positions()).toEqual([20_000, 5]);
  expect(await contentOf(5)).toEqual(PIECES);
});

test('a content that fails leaves nothing behind and does not touch the others', async () => {
  await save(store, 1);
  const failing = store.save({ ...HEADER, position: 2, base: 1 }, (write) => {
    write(Buffer.from('half'));
    throw new Error('no more');
  });

  await expect(failing).rejects.toThrow('no more');
  expect(await readdir(folder)).toHaveLength(1);
  expect(await contentOf(1)).toEqual(PIECES);
});

test('what a process that died left behind is no snapshot and goes with the next', async () => {
  await writeFile(join(folder, '0000000000000009.snapshot.unfinished'), 'half');

  expect(await store.positions()).toEqual([]);
  await save(store, 10);
  expect(await readdir(folder)).toEqual(['0000000000000010.snapshot']);
});

test('a snapshot that is cut short is damaged, wherever the cut is', async () => {
  await save(store, HEADER.position);
  const whole = await readFile(fileOf(HEADER.position));

  const survivors: number[] = [];
  for (let length = 0; length < whole.length; length++) {
    await writeFile(fileOf(HEADER.position), whole.subarray(0, length));
    if (!(await isDamaged(HEADER.position))) survivors.push(length);
  }

  expect(survivors).toEqual([]);
});

test('a snapshot with a flipped bit is damaged, wherever it is', async () => {
  await save(store, HEADER.position);
  const whole = await readFile(fileOf(HEADER.position));

  const survivors: number[] = [];
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole);
    flipped[at] ^= 1 << (at & 7);
    await writeFile(fileOf(HEADER.position), flipped);
    if (!(await isDamaged(HEADER.position))) survivors.push(at);
  }

  expect(survivors).toEqual([]);
});

test('bytes behind the end are damage', async () => {
  await save(store, HEADER.position);
  await truncate(fileOf(HEADER.position), 2000);

  expect(await isDamaged(HEADER.position)).toBe(true);
});

test('chunks of another snapshot are damage, even if each is whole', async () => {
  await save(store, 1);
  await store.save({ ...HEADER, position: 2, base: 1 }, (write) => {
    for (const piece of PIECES) write(Buffer.from(piece));
  });
  const [one, two] = [await readFile(fileOf(1)), await readFile(fileOf(2))];
  const mixed = Buffer.concat([one.subarray(0, 48), two.subarray(48)]);
  await writeFile(fileOf(1), mixed);

  expect(await isDamaged(1)).toBe(true);
});

test('a snapshot under the name of another is damaged', async () => {
  await save(store, 1);
  await writeFile(fileOf(2), await readFile(fileOf(1)));

  await expect(store.open(2)).rejects.toThrow(/is damaged: it is of record 1/);
});

test('no file is left open when the reader stops in the middle', async () => {
  await save(store, HEADER.position);
  const before = await readdir('/proc/self/fd');

  const { pieces } = await store.open(HEADER.position);
  for (const piece of pieces) if (textOf(piece) === PIECES[1]) break;

  expect(await readdir('/proc/self/fd')).toHaveLength(before.length);
});

test('a snapshot that is gone is an error of its own', async () => {
  await save(store, 1);
  await rm(fileOf(1));

  await expect(store.open(1)).rejects.toThrow('ENOENT');
});

function save(into: SnapshotStore, position: number, base = 0): Promise<void> {
  const content: SaveContent = (write) => {
    for (const piece of PIECES) write(Buffer.from(piece));
  };
  return into.save({ ...HEADER, position, base }, content);
}

function fileOf(position: number): string {
  return join(folder, `${String(position).padStart(16, '0')}.snapshot`);
}

async function contentOf(position: number): Promise<string[]> {
  return Array.from((await store.open(position)).pieces, textOf);
}

async function isDamaged(position: number): Promise<boolean> {
  try {
    await contentOf(position);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(SnapshotDamagedError);
    return true;
  }
}

function textOf(piece: Uint8Array): string {
  return Buffer.from(piece).toString();
}
