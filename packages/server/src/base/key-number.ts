import { createHash } from 'node:crypto';

/**
 * An idempotency key as the number that the core keeps; 0 for none. Keys are compared only within
 * one task or step, so 48 bits of a hash are enough.
 */
export function keyNumber(key: string | undefined): number {
  if (key === undefined) return 0;
  return 1 + createHash('sha256').update(key).digest().readUIntBE(0, 6);
}
