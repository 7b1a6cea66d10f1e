import { BASE32_LENGTH, parseBase32, toBase32 } from './base32.ts';

/**
 * The text form of a delivery's identity: `c_`, the partition (12 bits) and the number (36 bits).
 * Every try has the same id, so that receivers can detect duplicates.
 */
interface DeliveryKey {
  readonly partition: number;
  readonly number: number;
}

const NUMBERS_PER_PARTITION = 2 ** 36;

export function deliveryIdText({ partition, number }: DeliveryKey): string {
  return `c_${toBase32(partition * NUMBERS_PER_PARTITION + number)}`;
}

/** `undefined` when the text cannot be the id of any delivery. */
export function parseDeliveryId(text: string): DeliveryKey | undefined {
  if (text.length !== 2 + BASE32_LENGTH || !text.startsWith('c_')) return undefined;
  const bits = parseBase32(text, 2);
  if (bits < 0 || bits >= NUMBERS_PER_PARTITION * 4096) return undefined;
  return {
    partition: Math.floor(bits / NUMBERS_PER_PARTITION),
    number: bits % NUMBERS_PER_PARTITION,
  };
}
