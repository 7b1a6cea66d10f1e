import type { BatchRow } from './tables.ts';

/** The signature, flags and length of the extension of a binary COPY. */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);

const TRAILER = Buffer.from([0xff, 0xff]);

/** Batches as PostgreSQL sends them in a binary COPY. */
export function* copyRows(rows: readonly BatchRow[]): Generator<Buffer> {
  yield HEADER;
  for (const { first, count, epoch, nonce, crc, bytes } of rows) {
    const fields = [...[first, count, epoch, nonce, crc].map(integer), bytes];
    const head = Buffer.alloc(2);
    head.writeInt16BE(fields.length);
    yield Buffer.concat([head, ...fields.flatMap((field) => [lengthOf(field), field])]);
  }
  yield TRAILER;
}

function integer(value: number): Buffer {
  const field = Buffer.alloc(8);
  field.writeBigInt64BE(BigInt(value));
  return field;
}

function lengthOf(field: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(field.length);
  return length;
}
