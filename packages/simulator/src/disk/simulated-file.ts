import type { RandomStream } from '../kernel/random.ts';
import { FileContent, SECTOR_BYTES, sectorsOf } from './file-content.ts';

/**
 * One file, whatever its names: what readers see of it, and what is on the disk.
 *
 * sim-disk.unsynced-bytes: A crash keeps what was synced, and of the rest any part: nothing, all,
 *   what was written first, or any sectors of 512 bytes.
 * sim-disk.failed-sync: After a sync that failed nothing is left to be synced: the next one
 *   succeeds, and what the failed one did not get to the disk is gone with the next crash, or at
 *   once.
 */
export class SimulatedFile {
  readonly #seen = new FileContent();
  readonly #kept = new FileContent();
  /** Sectors that differ from the disk and will be written to it, in the order of writing. */
  readonly #unsynced = new Set<number>();

  get bytes(): number {
    return this.#seen.length;
  }

  get allocatedBytes(): number {
    return this.#seen.allocatedBytes;
  }

  read(target: Uint8Array, position: number): number {
    return this.#seen.read(target, position);
  }

  /** Returns how many bytes had room. Each sector that is not allocated needs a free one. */
  write(source: Uint8Array, position: number, freeSectors: () => number): number {
    const fitting = this.#fitting(source.length, position, freeSectors);
    if (fitting === 0) return 0;
    this.#seen.write(source.subarray(0, fitting), position);
    const { first, last } = sectorsOf(position, fitting);
    for (let sector = first; sector <= last; sector++) this.#unsynced.add(sector);
    return fitting;
  }

  truncate(length: number): void {
    const before = this.#seen.length;
    this.#seen.resize(length);
    if (length >= before) return;
    const { first, last } = sectorsOf(length, before - length);
    for (let sector = first; sector <= last; sector++) this.#unsynced.add(sector);
  }

  sync(): void {
    for (const sector of this.#unsynced) this.#kept.copySector(this.#seen, sector);
    this.#unsynced.clear();
    this.#kept.resize(this.#seen.length);
  }

  /** The effect of a durable write: it syncs only the sectors of that range. */
  syncRange(position: number, length: number): void {
    const { first, last } = sectorsOf(position, length);
    for (let sector = first; sector <= last; sector++) {
      this.#kept.copySector(this.#seen, sector);
      this.#unsynced.delete(sector);
    }
    if (position + length > this.#kept.length) this.#kept.resize(position + length);
  }

  /** A sync that failed half-way (sim-disk.failed-sync). */
  failSync(random: RandomStream): void {
    this.#fail([...this.#unsynced], random);
  }

  failSyncRange(position: number, length: number, random: RandomStream): void {
    const { first, last } = sectorsOf(position, length);
    this.#fail(
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
      random,
    );
  }

  /** What a restarted machine finds of it (sim-disk.unsynced-bytes). */
  surviveCrash(random: RandomStream): void {
    const survivors = survivorsOf([...this.#unsynced], random);
    const length = this.#survivingLength(survivors, random);
    const sectors = Math.ceil(length / SECTOR_BYTES);
    for (const sector of survivors) {
      if (sector < sectors) this.#kept.copySector(this.#seen, sector);
    }
    this.#kept.resize(length);
    this.#seen.copyFrom(this.#kept);
    this.#unsynced.clear();
  }

  /** Flips a bit on the disk. */
  flip(offset: number, bit: number): void {
    this.#seen.flip(offset, bit);
    this.#kept.flip(offset, bit);
  }

  #fail(sectors: readonly number[], random: RandomStream): void {
    const arrived = new Set(survivorsOf(sectors, random));
    // The kernel may keep a page that it could not write, as if it were written, until it needs
    // memory.
    const isForgotten = random.chance(0.5);
    if (random.chance(0.5)) this.#kept.resize(this.#seen.length);
    for (const sector of sectors) {
      this.#unsynced.delete(sector);
      if (arrived.has(sector)) this.#kept.copySector(this.#seen, sector);
      else if (isForgotten) this.#seen.copySector(this.#kept, sector);
    }
  }

  #survivingLength(survivors: readonly number[], random: RandomStream): number {
    const [seen, kept] = [this.#seen.length, this.#kept.length];
    if (seen === kept || random.chance(0.3)) return kept;
    if (seen < kept || random.chance(0.5)) return seen;
    // A file may grow only as far as its data reached the disk.
    const end = survivors.reduce((most, sector) => Math.max(most, (sector + 1) * SECTOR_BYTES), 0);
    return Math.max(kept, Math.min(seen, end));
  }

  #fitting(length: number, position: number, freeSectors: () => number): number {
    const { first, last } = sectorsOf(position, length);
    let free: number | undefined;
    for (let sector = first; sector <= last; sector++) {
      if (this.#seen.hasRoomAt(sector)) continue;
      free ??= freeSectors();
      if (free === 0) return Math.max(0, sector * SECTOR_BYTES - position);
      free -= 1;
    }
    return length;
  }
}

/** The writes that survive, given in their order: none, all, the first few, or any. */
export function survivorsOf<T>(written: readonly T[], random: RandomStream): readonly T[] {
  if (written.length === 0) return written;
  const kind = random.integer(0, 3);
  if (kind === 0) return [];
  if (kind === 1) return written;
  if (kind === 2) return written.slice(0, random.integer(0, written.length));
  return written.filter(() => random.chance(0.5));
}
