import type { RandomStream } from '../kernel/random.ts';
import { type SimulatedFile, survivorsOf } from './simulated-file.ts';

export type DiskEntry = SimulatedFile | SimulatedFolder;

type Names = Map<string, DiskEntry>;

/** One change of names. It is applied to the visible names, and later to those on the disk. */
type NameChange = (names: Names) => void;

/**
 * The names of one folder: those that are seen, and those on the disk.
 *
 * sim-disk.unsynced-names: A crash keeps the names as they were at the last sync, and of the
 *   changes since then any part, the first few or any of them; each is made wholly or not at all.
 */
export class SimulatedFolder {
  readonly #seen: Names = new Map();
  #kept: Names = new Map();
  #unsynced: NameChange[] = [];

  get(name: string): DiskEntry | undefined {
    return this.#seen.get(name);
  }

  names(): string[] {
    return [...this.#seen.keys()];
  }

  put(name: string, entry: DiskEntry): void {
    this.#change((names) => names.set(name, entry));
  }

  remove(name: string): void {
    const entry = this.#seen.get(name);
    this.#change((names) => {
      if (names.get(name) === entry) names.delete(name);
    });
  }

  rename(from: string, to: string): void {
    const entry = this.#seen.get(from)!;
    this.#change((names) => {
      // If the old name did not reach the disk, there is no entry that could get the new name.
      if (names.get(from) !== entry) return;
      names.delete(from);
      names.set(to, entry);
    });
  }

  sync(): void {
    this.#kept = new Map(this.#seen);
    this.#unsynced = [];
  }

  /** What a restarted machine finds of it, and of everything below it (sim-disk.unsynced-names). */
  surviveCrash(random: RandomStream): void {
    for (const change of survivorsOf(this.#unsynced, random)) change(this.#kept);
    this.#unsynced = [];
    this.#seen.clear();
    for (const [name, entry] of this.#kept) {
      this.#seen.set(name, entry);
      entry.surviveCrash(random);
    }
  }

  #change(change: NameChange): void {
    change(this.#seen);
    this.#unsynced.push(change);
  }
}
