import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NetworkFolderError } from '../contract/log-errors.ts';
import { FileLog } from '../file/file-log.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { networkFileSystemOf } from './network-folder.ts';

const EXT4 = 0xef53;
const NFS = 0x6969;

const disk = vi.hoisted(() => ({ type: 0 }));
vi.mock('node:fs/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs/promises')>()),
  statfs: async () => disk,
}));

test.each([
  { type: NFS, name: 'nfs' },
  { type: 0x517b, name: 'smb' },
  { type: 0xff534d42, name: 'cifs' },
  { type: 0xff534d42 | 0, name: 'cifs' },
  { type: 0xfe534d42, name: 'smb2' },
  { type: 0x65735546, name: 'fuse' },
  { type: 0x00c36400, name: 'ceph' },
  { type: 0x5346414f, name: 'afs' },
  { type: 0x6b414653, name: 'afs' },
])('file system type $type is $name', ({ type, name }) => {
  expect(networkFileSystemOf(type)).toBe(name);
});

test.each([
  { type: EXT4, name: 'ext4' },
  { type: 0x58465342, name: 'xfs' },
  { type: 0x9123683e, name: 'btrfs' },
  { type: 0x01021994, name: 'tmpfs' },
  { type: 0x2fc12fc1, name: 'zfs' },
  { type: 0x794c7630, name: 'overlay' },
  { type: 0x01021997, name: '9p' },
])('$name is taken for a local disk', ({ type }) => {
  expect(networkFileSystemOf(type)).toBeUndefined();
});

describe('a log folder', () => {
  let folder: TempFolder;
  beforeEach(async () => {
    folder = await TempFolder.create();
  });
  afterEach(async () => {
    await folder.dispose();
  });

  test('on a network file system is refused with a way out', async () => {
    disk.type = NFS;

    const opening = folder.open();

    await expect(opening).rejects.toThrow(NetworkFolderError);
    await expect(opening).rejects.toThrow(
      `'${folder.logFolder}' is on a network file system (nfs); choose a folder on a local disk`,
    );
  });

  test('on a network file system opens when that is allowed', async () => {
    disk.type = NFS;

    const log = await FileLog.open({ folder: folder.logFolder, allowNetworkFolder: true });

    await log.close();
  });

  test('on a local disk opens', async () => {
    disk.type = EXT4;

    await expect(folder.open()).resolves.toBeInstanceOf(FileLog);
  });
});
