import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import type { Disk } from './disk.ts';
import { ensureFolder } from './durable-folder.ts';
import { nodeDisk } from './node-disk.ts';

let temp: TempFolder;
let synced: string[];
beforeEach(async () => {
  temp = await TempFolder.create();
  synced = [];
});
afterEach(async () => {
  await temp.dispose();
});

/** The real disk, where the sync of one folder fails. */
function diskThatFails(code: string, where: string): Disk {
  return {
    ...nodeDisk,
    async syncFolder(folder) {
      if (folder === where) throw Object.assign(new Error(`${code}: injected`), { code });
      await nodeDisk.syncFolder(folder);
      synced.push(folder);
    },
  };
}

test('every folder above is synced, also those that were there', async () => {
  const there = join(temp.path, 'a');
  await mkdir(there);

  await ensureFolder(diskThatFails('EIO', 'nowhere'), join(there, 'b', 'c'));

  expect((await stat(join(there, 'b', 'c'))).isDirectory()).toBe(true);
  expect(synced).toEqual(expect.arrayContaining([join(there, 'b'), there, temp.path, '/']));
});

test.each(['EACCES', 'EINVAL'])('a folder above that says %s is left alone', async (code) => {
  await ensureFolder(diskThatFails(code, dirname(temp.path)), temp.logFolder);

  expect(synced).toContain(temp.path);
  expect(synced).toContain('/');
});

test.each([
  { code: 'EIO', where: 'above' },
  { code: 'EACCES', where: 'in which a folder is made' },
])('a folder $where that says $code is told', async ({ code, where }) => {
  const folder = where === 'above' ? dirname(temp.path) : temp.path;

  await expect(ensureFolder(diskThatFails(code, folder), temp.logFolder)).rejects.toThrow(code);
});
