import { NetworkFolderError } from '../contract/log-errors.ts';
import type { Disk } from './disk.ts';

/**
 * From linux/magic.h and the headers of the file systems. All of FUSE counts: the kernel does not
 * say which file system it is, and sshfs is the usual case.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x65735546, 'fuse'],
  [0x00c36400, 'ceph'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
]);

/** The name of the network file system for a type from `statfs`; undefined for a local one. */
export function networkFileSystemOf(type: number): string | undefined {
  // The kernel's field is signed on some machines.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0);
}

/**
 * Throws a `NetworkFolderError` for a folder on a network file system. There, another machine does
 * not see the lock, and a synchronous write is only as durable as the remote server makes it.
 */
export async function refuseNetworkFolder(disk: Disk, folder: string): Promise<void> {
  const fileSystem = await disk.networkFileSystemOf(folder);
  if (fileSystem !== undefined) throw new NetworkFolderError(folder, fileSystem);
}
