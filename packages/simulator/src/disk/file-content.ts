/** The unit that a disk writes completely or not at all. */
export const SECTOR_BYTES = 512;

/** The sectors that a range of bytes touches, both included. */
export function sectorsOf(position: number, length: number): { first: number; last: number } {
  const first = Math.floor(position / SECTOR_BYTES);
  return { first, last: Math.floor((position + length - 1) / SECTOR_BYTES) };
}

/** The bytes of a file, and which of its sectors are allocated on the disk. */
export class FileContent {
  #bytes = new Uint8Array(0);
  /** One entry per sector: whether it is allocated. Other sectors are zeros. */
  #hasRoom = new Uint8Array(0);
  #length = 0;
  #sectorsWithRoom = 0;

  get length(): number {
    return this.#length;
  }

  get allocatedBytes(): number {
    return this.#sectorsWithRoom * SECTOR_BYTES;
  }

  /** Returns the number of bytes that were read. */
  read(target: Uint8Array, position: number): number {
    const count = Math.max(0, Math.min(target.length, this.#length - position));
    target.set(this.#bytes.subarray(position, position + count));
    return count;
  }

  hasRoomAt(sector: number): boolean {
    return this.#hasRoom[sector] === 1;
  }

  write(source: Uint8Array, position: number): void {
    if (source.length === 0) return;
    const end = position + source.length;
    this.#reserve(end);
    this.#bytes.set(source, position);
    const { first, last } = sectorsOf(position, source.length);
    for (let sector = first; sector <= last; sector++) this.#setRoom(sector, 1);
    this.#length = Math.max(this.#length, end);
  }

  /** Frees the sectors behind the new end. Bytes between the old end and the new one are zeros. */
  resize(length: number): void {
    this.#reserve(length);
    this.#bytes.fill(0, length);
    const firstFree = Math.ceil(length / SECTOR_BYTES);
    for (let sector = firstFree; sector < this.#hasRoom.length; sector++) this.#setRoom(sector, 0);
    this.#length = length;
  }

  /** Copies a sector and its allocation from `other`. Does not move the end. */
  copySector(other: FileContent, sector: number): void {
    const start = sector * SECTOR_BYTES;
    this.#reserve(start + SECTOR_BYTES);
    const there = other.#bytes.subarray(start, start + SECTOR_BYTES);
    this.#bytes.set(there, start);
    this.#bytes.fill(0, start + there.length, start + SECTOR_BYTES);
    this.#setRoom(sector, other.#hasRoom[sector] ?? 0);
  }

  copyFrom(other: FileContent): void {
    this.#bytes = other.#bytes.slice();
    this.#hasRoom = other.#hasRoom.slice();
    this.#length = other.#length;
    this.#sectorsWithRoom = other.#sectorsWithRoom;
  }

  flip(offset: number, bit: number): void {
    if (offset < this.#length) this.#bytes[offset] ^= 1 << bit;
  }

  #setRoom(sector: number, room: number): void {
    this.#sectorsWithRoom += room - this.#hasRoom[sector];
    this.#hasRoom[sector] = room;
  }

  /** Grows the buffer in whole sectors. */
  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const sectors = Math.ceil(Math.max(length, this.#bytes.length * 2) / SECTOR_BYTES);
    const bytes = new Uint8Array(sectors * SECTOR_BYTES);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    const hasRoom = new Uint8Array(sectors);
    hasRoom.set(this.#hasRoom);
    this.#hasRoom = hasRoom;
  }
}
