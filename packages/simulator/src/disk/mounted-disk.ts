import type {
  Disk,
  DiskFile,
  DiskUse,
  FolderHeld,
  FolderLock,
  OpenMode,
  SyncFile,
} from '@sluice/log';
import { DiskError, ProcessKilledError } from './disk-error.ts';
import { MountedFile, MountedSyncFile } from './mounted-file.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedFile } from './simulated-file.ts';
import { SimulatedFolder } from './simulated-folder.ts';

export interface MountOptions {
  /** Runs a function after a delay of virtual time, if the process is still alive then. */
  readonly schedule: (delayMs: number, run: () => void) => unknown;
  /**
   * Called before each operation begins. It may kill the process; then the operation does not
   * begin.
   */
  readonly observe?: (operation: string, path: string) => void;
  /** How long an operation takes, without the extra delay of a slow disk. */
  readonly delayMs?: { readonly least: number; readonly most: number };
}

/** An operation that a process requested from its disk. */
export interface DiskOperation {
  readonly name: string;
  readonly path: string;
  readonly extraDelayMs?: number;
  /** Executes the operation and answers the process. */
  readonly finish: () => void;
  /** Executes what the machine still does of it when the process dies during the operation. */
  readonly abandon: () => void;
}

const DELAY_MS = { least: 0.05, most: 0.3 };

/**
 * The disk as one process sees it.
 *
 * sim-disk.killed-operation: An operation happens when it answers. Of one that is under way when
 *   the process is killed nobody knows whether it happened; nothing answers a dead process any
 *   more.
 */
export class MountedDisk implements Disk {
  readonly disk: SimulatedDisk;
  readonly #options: MountOptions;
  #isAlive = true;
  readonly #underWay = new Set<DiskOperation>();
  readonly #open = new Set<{ readonly file: SimulatedFile }>();

  constructor(disk: SimulatedDisk, options: MountOptions) {
    this.disk = disk;
    this.#options = options;
  }

  /**
   * Kills the process immediately. The machine keeps running, so written data can still be read.
   */
  kill(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const underWay = [...this.#underWay];
    this.#underWay.clear();
    for (const { abandon } of underWay) if (this.disk.random.chance(0.5)) abandon();
    this.#open.clear();
    this.disk.mounts.delete(this);
    for (const [folder, holder] of this.disk.locks) {
      if (holder === this) this.disk.locks.delete(folder);
    }
  }

  list(folder: string): Promise<string[]> {
    return this.look('list', folder, () => this.#shuffled(this.disk.findFolder(folder).names()));
  }

  stat(path: string): Promise<DiskUse> {
    return this.look('stat', path, () => {
      const entry = this.disk.find(path);
      if (entry instanceof SimulatedFolder) return { bytes: 0, allocatedBytes: 0 };
      return { bytes: entry.bytes, allocatedBytes: entry.allocatedBytes };
    });
  }

  makeFolder(path: string): Promise<void> {
    return this.change('makeFolder', path, () => {
      const { folder, name } = this.#placeOf(path);
      if (folder.get(name) !== undefined) throw new DiskError('EEXIST', path);
      folder.put(name, new SimulatedFolder());
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.change('rename', from, () => {
      const [source, target] = [this.#placeOf(from), this.#placeOf(to)];
      if (source.folder !== target.folder) throw new DiskError('EXDEV', to);
      this.disk.find(from);
      source.folder.rename(source.name, target.name);
    });
  }

  remove(path: string): Promise<void> {
    return this.change('remove', path, () => {
      this.disk.findFile(path);
      const { folder, name } = this.#placeOf(path);
      folder.remove(name);
    });
  }

  truncate(path: string, bytes: number): Promise<void> {
    return this.change('truncate', path, () => this.disk.findFile(path).truncate(bytes));
  }

  syncFolder(path: string): Promise<void> {
    const { faults } = this.disk;
    const fails = faults.takeSyncFailure(path);
    const act = () => {
      const folder = this.disk.findFolder(path);
      if (fails) throw new DiskError('EIO', path);
      folder.sync();
    };
    return this.change('syncFolder', path, act, faults.syncDelayMs);
  }

  open(path: string, mode: OpenMode): Promise<DiskFile> {
    return this.change(`open to ${mode}`, path, () => {
      const file = new MountedFile(this, { path, mode, file: this.#openEntry(path, mode) });
      this.#open.add(file);
      return file;
    });
  }

  openSync(path: string, mode: 'read' | 'create'): SyncFile {
    return this.now(`open to ${mode}`, path, () => {
      const file = new MountedSyncFile(this, path, this.#openEntry(path, mode));
      this.#open.add(file);
      return file;
    });
  }

  lock(path: string): Promise<FolderLock | FolderHeld> {
    return this.look('lock', path, () => {
      const folder = this.disk.findFolder(path);
      const { locks } = this.disk;
      if (locks.has(folder)) return { holder: 'another process' };
      locks.set(folder, this);
      return { release: () => this.look('unlock', path, () => void locks.delete(folder)) };
    });
  }

  async networkFileSystemOf(): Promise<undefined> {
    return undefined;
  }

  openFiles(): SimulatedFile[] {
    return Array.from(this.#open, ({ file }) => file);
  }

  closed(file: { readonly file: SimulatedFile }): void {
    this.#open.delete(file);
  }

  /**
   * Something that may happen even though the process dies before it hears of it
   * (sim-disk.killed-operation).
   */
  change<T>(name: string, path: string, act: () => T, extraDelayMs = 0): Promise<T> {
    const abandon = () => {
      try {
        act();
      } catch {
        // The process is dead, so there is no caller to tell.
      }
    };
    return this.#promise({ name, path, extraDelayMs, abandon }, act);
  }

  /** An operation that does not change the disk. */
  look<T>(name: string, path: string, act: () => T): Promise<T> {
    return this.#promise({ name, path, abandon: () => undefined }, act);
  }

  begin(operation: DiskOperation): void {
    const { schedule, observe, delayMs = DELAY_MS } = this.#options;
    if (this.#isAlive) observe?.(operation.name, operation.path);
    if (!this.#isAlive) return;
    this.#underWay.add(operation);
    const share = this.disk.random.next();
    const ownMs = delayMs.least + (delayMs.most - delayMs.least) * share;
    schedule(ownMs + (operation.extraDelayMs ?? 0), () => {
      if (this.#underWay.delete(operation)) operation.finish();
    });
  }

  /** A synchronous operation. It throws if the process is dead. */
  now<T>(name: string, path: string, act: () => T): T {
    if (this.#isAlive) this.#options.observe?.(name, path);
    if (!this.#isAlive) throw new ProcessKilledError();
    return act();
  }

  #promise<T>(operation: Omit<DiskOperation, 'finish'>, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        try {
          resolve(act());
        } catch (error) {
          reject(error);
        }
      };
      this.begin({ ...operation, finish });
    });
  }

  #openEntry(path: string, mode: OpenMode): SimulatedFile {
    if (mode !== 'create') return this.disk.findFile(path);
    const { folder, name } = this.#placeOf(path);
    if (folder.get(name) === undefined) folder.put(name, new SimulatedFile());
    const file = this.disk.findFile(path);
    file.truncate(0);
    return file;
  }

  #placeOf(path: string): { readonly folder: SimulatedFolder; readonly name: string } {
    const slash = path.lastIndexOf('/');
    const folder = this.disk.findFolder(path.slice(0, slash));
    return { folder, name: path.slice(slash + 1) };
  }

  /** A folder lists its files in any order. */
  #shuffled(names: string[]): string[] {
    for (let place = names.length - 1; place > 0; place--) {
      const other = this.disk.random.integer(0, place);
      [names[place], names[other]] = [names[other], names[place]];
    }
    return names;
  }
}
