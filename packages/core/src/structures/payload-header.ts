/**
 * The header of each payload in the arena, so that a chunk can be read from its start: the owner in
 * four bytes, then the length as a varint, seven bits per byte, lowest first.
 */
const OWNER_BYTES = 4;

/** Number of columns that an owner can name beside its slot. */
const COLUMNS_MAX = 8;

/** Number of slots that an owner can name. */
export const OWNER_SLOTS_MAX = 2 ** 32 / COLUMNS_MAX;

export interface PayloadHeader {
  column: number;
  slot: number;
  length: number;
  /** Where the payload begins. */
  start: number;
}

export function headerBytes(length: number): number {
  let bytes = OWNER_BYTES + 1;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/** Returns where the payload begins. */
export function writeHeader(bytes: Uint8Array, at: number, header: PayloadHeader): number {
  const owner = header.slot * COLUMNS_MAX + header.column;
  bytes[at] = owner;
  bytes[at + 1] = owner >>> 8;
  bytes[at + 2] = owner >>> 16;
  bytes[at + 3] = owner >>> 24;
  let end = at + OWNER_BYTES;
  let rest = header.length;
  while (rest > 127) {
    bytes[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/** Fills `header` from the bytes at `at`. */
export function readHeader(bytes: Uint8Array, at: number, header: PayloadHeader): void {
  const low = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
  const owner = low + bytes[at + 3] * 2 ** 24;
  header.column = owner % COLUMNS_MAX;
  header.slot = Math.floor(owner / COLUMNS_MAX);
  let end = at + OWNER_BYTES;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[end++];
    length |= (byte & 127) << shift;
    // The byte is undefined past the end of the memory.
    if (!(byte > 127)) break;
  }
  header.length = length;
  header.start = end;
}
