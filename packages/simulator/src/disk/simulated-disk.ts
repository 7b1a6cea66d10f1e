import type { RandomStream } from '../kernel/random.ts';
import { DiskError } from './disk-error.ts';
import { DiskFaults } from './disk-faults.ts';
import { SECTOR_BYTES } from './file-content.ts';
import { MountedDisk, type MountOptions } from './mounted-disk.ts';
import { SimulatedFile } from './simulated-file.ts';
import { type DiskEntry, SimulatedFolder } from './simulated-folder.ts';

export interface SimulatedDiskOptions {
  readonly random: RandomStream;
  readonly capacityBytes?: number;
}

/**
 * The disk of one simulated machine. It outlives the processes that use it, each through a mount of
 * its own, and loses in a crash what a real one may lose (sim-disk.unsynced-bytes,
 * sim-disk.failed-sync, sim-disk.unsynced-names).
 *
 * All chance comes from the stream that it is given, so that the same calls leave the same bytes.
 */
export class SimulatedDisk {
  readonly random: RandomStream;
  readonly faults = new DiskFaults();
  /** May change at any time. Data that is already on the disk stays, even if it is more. */
  capacityBytes: number;
  /** The process that holds the lock of each folder. */
  readonly locks = new Map<SimulatedFolder, MountedDisk>();
  /** The processes that are alive. */
  readonly mounts = new Set<MountedDisk>();
  readonly #root = new SimulatedFolder();

  constructor({ random, capacityBytes = Number.POSITIVE_INFINITY }: SimulatedDiskOptions) {
    this.random = random;
    this.capacityBytes = capacityBytes;
  }

  /** The disk as a process sees it, until that process is killed. */
  mount(options: MountOptions): MountedDisk {
    const mount = new MountedDisk(this, options);
    this.mounts.add(mount);
    return mount;
  }

  /** The machine loses power: all processes die, and data that was not synced may be lost. */
  crash(): void {
    for (const mount of this.mounts) mount.kill();
    this.#root.surviveCrash(this.random);
  }

  /** Flips one bit of a file. */
  flip(path: string, offset: number): void {
    this.findFile(path).flip(offset, this.random.integer(0, 7));
  }

  /** Flips one bit in one of the files below a folder. Returns where, if there is a file. */
  flipSomewhere(folder: string): { readonly path: string; readonly offset: number } | undefined {
    const files = this.files(folder).filter((path) => this.findFile(path).bytes > 0);
    if (files.length === 0) return undefined;
    const path = this.random.pick(files);
    const offset = this.random.integer(0, this.findFile(path).bytes - 1);
    this.flip(path, offset);
    return { path, offset };
  }

  /** The paths of all files at or below a folder, as a process would see them. */
  files(folder = '/'): string[] {
    const root = this.find(folder);
    if (root instanceof SimulatedFile) return [folder];
    const inside = folder === '/' ? '' : folder;
    return root
      .names()
      .toSorted()
      .flatMap((name) => this.files(`${inside}/${name}`));
  }

  /** A copy of what a process would read. */
  contentOf(path: string): Uint8Array {
    const file = this.findFile(path);
    const content = new Uint8Array(file.bytes);
    file.read(content, 0);
    return content;
  }

  get usedBytes(): number {
    // A file without a name keeps its room until every process has closed it.
    const files = new Set(this.files().map((path) => this.findFile(path)));
    for (const mount of this.mounts) for (const file of mount.openFiles()) files.add(file);
    let used = 0;
    for (const file of files) used += file.allocatedBytes;
    return used;
  }

  readonly freeSectors = (): number => {
    return Math.max(0, Math.floor((this.capacityBytes - this.usedBytes) / SECTOR_BYTES));
  };

  find(path: string): DiskEntry {
    let entry: DiskEntry | undefined = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      entry = entry instanceof SimulatedFolder ? entry.get(name) : undefined;
      if (entry === undefined) throw new DiskError('ENOENT', path);
    }
    return entry;
  }

  findFile(path: string): SimulatedFile {
    const entry = this.find(path);
    if (entry instanceof SimulatedFile) return entry;
    throw new DiskError('EISDIR', path);
  }

  findFolder(path: string): SimulatedFolder {
    const entry = this.find(path);
    if (entry instanceof SimulatedFolder) return entry;
    throw new DiskError('ENOTDIR', path);
  }
}
