/**
 * Memory for columns, filled with zeros.
 *
 * Large columns are made over shared memory, although nobody shares them: V8 counts the size of
 * other buffers and collects garbage when they grow. Columns are as long as the bounds allow and
 * take real memory only where they are used, so a start had four collections for gigabytes that
 * did not exist, which were a sixth of its time. The price: the memory of a partition that is
 * dropped goes with the next collection that has another reason.
 */
const COUNTED_BYTES_MAX = 2 ** 20;

export function float64s(length: number): Float64Array {
  return new Float64Array(memory(length * 8));
}

export function uint32s(length: number): Uint32Array {
  return new Uint32Array(memory(length * 4));
}

export function int32s(length: number): Int32Array {
  return new Int32Array(memory(length * 4));
}

export function uint16s(length: number): Uint16Array {
  return new Uint16Array(memory(length * 2));
}

export function int16s(length: number): Int16Array {
  return new Int16Array(memory(length * 2));
}

export function uint8s(length: number): Uint8Array {
  return new Uint8Array(memory(length));
}

function memory(bytes: number): ArrayBuffer | SharedArrayBuffer {
  return bytes > COUNTED_BYTES_MAX ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}
