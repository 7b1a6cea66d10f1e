import { readdir, readFile, stat } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BlankFileSupply } from './segment-preallocation.ts';
import { TempFolder } from './temp-folder-fixture.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

test('a blank file holds zeros that take up space on the disk', async () => {
  const supply = new BlankFileSupply(folder.path, 1_000_000);

  const blank = await supply.take(64);

  expect(blank.bytes).toBe(1_000_000);
  expect((await readFile(blank.path)).equals(Buffer.alloc(1_000_000))).toBe(true);
  const { blocks, mode } = await stat(blank.path);
  expect(blocks * 512).toBeGreaterThanOrEqual(1_000_000);
  expect(mode & 0o777).toBe(0o600);
});

test('a batch that no segment holds gets its own file and leaves the next one be', async () => {
  const supply = new BlankFileSupply(folder.path, 1000);
  supply.prepare();

  const oversize = await supply.take(5000);
  const next = await supply.take(1000);

  expect((await stat(oversize.path)).size).toBe(5000);
  expect((await stat(next.path)).size).toBe(1000);
});

test('a failure in the background is told to whoever takes the file', async () => {
  const supply = new BlankFileSupply(`${folder.path}/absent`, 1000);
  supply.prepare();

  await expect(supply.take(64)).rejects.toThrow('ENOENT');
});

test('discarding ends a preparation that is under way and leaves nothing behind', async () => {
  const supply = new BlankFileSupply(folder.path, 32 * 2 ** 20);
  supply.prepare();

  await supply.discard();

  expect(await readdir(folder.path)).toEqual([]);
});
