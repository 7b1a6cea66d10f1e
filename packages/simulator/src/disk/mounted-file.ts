import type { DiskFile, OpenMode, SyncFile, WriteDone, WriteRange } from '@sluice/log';
import { DiskError } from './disk-error.ts';
import { SECTOR_BYTES, sectorsOf } from './file-content.ts';
import type { MountedDisk } from './mounted-disk.ts';
import type { SimulatedFile } from './simulated-file.ts';

interface OpenedFile {
  readonly path: string;
  readonly mode: OpenMode;
  readonly file: SimulatedFile;
}

/** A file that a process has open. */
export class MountedFile implements DiskFile {
  readonly file: SimulatedFile;
  readonly #path: string;
  readonly #isDurable: boolean;
  readonly #mount: MountedDisk;

  constructor(mount: MountedDisk, { path, mode, file }: OpenedFile) {
    this.file = file;
    this.#mount = mount;
    this.#path = path;
    this.#isDurable = mode === 'durable';
  }

  read(target: Uint8Array, position: number): Promise<number> {
    return this.#mount.look('read', this.#path, () => this.file.read(target, position));
  }

  write(bytes: Uint8Array, range: WriteRange, done: WriteDone): void {
    const { random, faults } = this.#mount.disk;
    const { position } = range;
    const fails = faults.takeWriteFailure(this.#path);
    const length = faults.takeShortWrite(range.length)
      ? random.integer(1, range.length - 1)
      : range.length;
    const part = (count: number) => bytes.subarray(range.offset, range.offset + count);
    this.#mount.begin({
      name: 'write',
      path: this.#path,
      extraDelayMs: this.#isDurable ? faults.syncDelayMs : 0,
      finish: () => {
        if (fails) {
          this.#fail(part(length), position);
          return done(new DiskError('EIO', this.#path), 0);
        }
        const written = this.file.write(part(length), position, this.#mount.disk.freeSectors);
        if (written === 0 && length > 0) return done(new DiskError('ENOSPC', this.#path), 0);
        if (this.#isDurable) this.file.syncRange(position, written);
        return done(null, written);
      },
      abandon: () => {
        // Writes up to the end of some sector, or everything; none of it is synced.
        const { first, last } = sectorsOf(position, length);
        const end = random.integer(first, last + 1) * SECTOR_BYTES;
        const count = Math.max(0, Math.min(length, end - position));
        this.file.write(part(count), position, this.#mount.disk.freeSectors);
      },
    });
  }

  sync(): Promise<void> {
    const { faults } = this.#mount.disk;
    const fails = faults.takeSyncFailure(this.#path);
    const act = () => (fails ? failSync(this.#mount, this.file, this.#path) : this.file.sync());
    return this.#mount.change('sync', this.#path, act, faults.syncDelayMs);
  }

  close(): Promise<void> {
    return this.#mount.look('close', this.#path, () => this.#mount.closed(this));
  }

  #fail(bytes: Uint8Array, position: number): void {
    if (!this.#isDurable) return;
    const written = this.file.write(bytes, position, this.#mount.disk.freeSectors);
    this.file.failSyncRange(position, written, this.#mount.disk.random);
  }
}

/** A file with synchronous operations. */
export class MountedSyncFile implements SyncFile {
  readonly file: SimulatedFile;
  readonly #path: string;
  readonly #mount: MountedDisk;
  #end = 0;

  constructor(mount: MountedDisk, path: string, file: SimulatedFile) {
    this.file = file;
    this.#mount = mount;
    this.#path = path;
  }

  get bytes(): number {
    return this.#mount.now('stat', this.#path, () => this.file.bytes);
  }

  read(target: Uint8Array, position: number): number {
    return this.#mount.now('read', this.#path, () => this.file.read(target, position));
  }

  write(bytes: Uint8Array): number {
    const { random, faults, freeSectors } = this.#mount.disk;
    return this.#mount.now('write', this.#path, () => {
      if (faults.takeWriteFailure(this.#path)) throw new DiskError('EIO', this.#path);
      const length = faults.takeShortWrite(bytes.length)
        ? random.integer(1, bytes.length - 1)
        : bytes.length;
      const written = this.file.write(bytes.subarray(0, length), this.#end, freeSectors);
      if (written === 0 && length > 0) throw new DiskError('ENOSPC', this.#path);
      this.#end += written;
      return written;
    });
  }

  sync(): void {
    this.#mount.now('sync', this.#path, () => {
      const fails = this.#mount.disk.faults.takeSyncFailure(this.#path);
      if (fails) failSync(this.#mount, this.file, this.#path);
      else this.file.sync();
    });
  }

  close(): void {
    this.#mount.closed(this);
  }
}

function failSync(mount: MountedDisk, file: SimulatedFile, path: string): never {
  file.failSync(mount.disk.random);
  throw new DiskError('EIO', path);
}
