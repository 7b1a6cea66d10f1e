import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  write,
  writeSync,
} from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  statfs,
  truncate,
  unlink,
} from 'node:fs/promises';
import type { Disk, DiskFile, OpenMode, SyncFile, WriteDone, WriteRange } from './disk.ts';
import { lockByFile } from './folder-lock.ts';
import { networkFileSystemOf } from './network-folder.ts';

/**
 * O_DSYNC makes each write durable before it completes. Measured against write + fdatasync, with
 * the same guarantee: one visit to the thread pool instead of two, 100 µs of CPU against 160, and
 * 0.17 ms against 0.22.
 */
const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  durable: constants.O_WRONLY | constants.O_DSYNC,
};

const OWNER_ONLY = 0o600;

/** The file system of the machine. */
export const nodeDisk: Disk = {
  list: (folder) => readdir(folder),

  async stat(path) {
    const { size, blocks } = await stat(path);
    return { bytes: size, allocatedBytes: blocks * 512 };
  },

  async makeFolder(path) {
    await mkdir(path, { mode: 0o700 });
  },

  rename: (from, to) => rename(from, to),
  remove: (path) => unlink(path),
  truncate: (path, bytes) => truncate(path, bytes),

  async syncFolder(folder) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },

  async open(path, mode) {
    return new NodeFile(await open(path, FLAGS[mode], OWNER_ONLY));
  },

  openSync: (path, mode) => new NodeSyncFile(openSync(path, FLAGS[mode], OWNER_ONLY)),

  async lock(folder) {
    return lockByFile(folder);
  },

  async networkFileSystemOf(folder) {
    const { type } = await statfs(folder);
    return networkFileSystemOf(type);
  },
};

class NodeFile implements DiskFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    return (await this.#handle.read(target, 0, target.length, position)).bytesRead;
  }

  write(bytes: Uint8Array, { offset, length, position }: WriteRange, done: WriteDone): void {
    write(this.#handle.fd, bytes, offset, length, position, done);
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

class NodeSyncFile implements SyncFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  get bytes(): number {
    return fstatSync(this.#descriptor).size;
  }

  read(target: Uint8Array, position: number): number {
    return readSync(this.#descriptor, target, 0, target.length, position);
  }

  write(bytes: Uint8Array): number {
    return writeSync(this.#descriptor, bytes);
  }

  sync(): void {
    fsyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
