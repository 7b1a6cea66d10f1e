import { crc32 } from 'node:zlib';

interface CheckedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly epoch: number;
  readonly nonce: number;
  readonly bytes: Uint8Array;
}

/** Covers all columns, so that a batch in a wrong place does not pass. */
export function batchChecksum(batch: CheckedBatch): number {
  const place = Buffer.allocUnsafe(32);
  place.writeDoubleLE(batch.firstRecord, 0);
  place.writeDoubleLE(batch.recordCount, 8);
  place.writeDoubleLE(batch.epoch, 16);
  place.writeDoubleLE(batch.nonce, 24);
  return crc32(batch.bytes, crc32(place));
}
