import { BASE32_LENGTH, parseBase32, toBase32, writeBase32 } from './base32.ts';
import type { LeaseNumber, Slot } from './ids.ts';

/**
 * The text form of a lease: `l_`, partition and slot, lease number.
 *
 * It suffices to route a report and to find its task without a lookup. It is not a secret: a report
 * counts only when it comes from the session that holds the lease, and session ids are secret.
 */
export interface LeaseKey {
  readonly partition: number;
  readonly slot: Slot;
  readonly number: LeaseNumber;
}

const SLOTS_PER_PARTITION = 2 ** 36;

export const LEASE_TOKEN_LENGTH = 2 + 2 * BASE32_LENGTH;

export function leaseTokenText(key: LeaseKey): string {
  return `l_${toBase32(key.partition * SLOTS_PER_PARTITION + key.slot)}${toBase32(key.number)}`;
}

/** Writes `LEASE_TOKEN_LENGTH` bytes at `at`. */
export function writeLeaseToken(bytes: Uint8Array, at: number, key: LeaseKey): void {
  bytes[at] = 0x6c;
  bytes[at + 1] = 0x5f;
  writeBase32(bytes, at + 2, key.partition * SLOTS_PER_PARTITION + key.slot);
  writeBase32(bytes, at + 2 + BASE32_LENGTH, key.number);
}

/** `undefined` when the text cannot be a lease of any partition. */
export function parseLeaseToken(text: string): LeaseKey | undefined {
  if (text.length !== LEASE_TOKEN_LENGTH || !text.startsWith('l_')) return undefined;
  const place = parseBase32(text, 2);
  const number = parseBase32(text, 2 + BASE32_LENGTH);
  if (place < 0 || number <= 0) return undefined;
  return {
    partition: Math.floor(place / SLOTS_PER_PARTITION),
    slot: (place % SLOTS_PER_PARTITION) as Slot,
    number: number as LeaseNumber,
  };
}
