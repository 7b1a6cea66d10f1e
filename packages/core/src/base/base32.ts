/**
 * Numbers below 2^50 as ten characters whose order as text is the order of the numbers.
 *
 * Ids are written and read once per task and direction, so both work on characters directly.
 */

const ALPHABET = '0123456789abcdefghijklmnopqrstuv';
const CODE_OF_DIGIT = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const DIGIT_OF_CODE = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 32; digit++) DIGIT_OF_CODE[CODE_OF_DIGIT[digit]] = digit;

/** Two characters per entry need 1,024 entries. Five per entry would need 32 million. */
const PAIRS = Array.from({ length: 1024 }, (_, n) => ALPHABET[n >>> 5] + ALPHABET[n & 31]);

const HALF = 2 ** 25;

export const BASE32_LENGTH = 10;

export function toBase32(value: number): string {
  const high = Math.floor(value / HALF);
  const low = value % HALF;
  return (
    PAIRS[high >>> 15] +
    PAIRS[(high >>> 5) & 1023] +
    PAIRS[((high & 31) << 5) | (low >>> 20)] +
    PAIRS[(low >>> 10) & 1023] +
    PAIRS[low & 1023]
  );
}

/** Writes ten bytes at `at`. */
export function writeBase32(bytes: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / HALF);
  const low = value % HALF;
  for (let i = 4; i >= 0; i--) {
    bytes[at + 4 - i] = CODE_OF_DIGIT[(high >>> (i * 5)) & 31];
    bytes[at + 9 - i] = CODE_OF_DIGIT[(low >>> (i * 5)) & 31];
  }
}

/** Reads ten characters from `at`; -1 when one is missing or not in the alphabet. */
export function parseBase32(text: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + BASE32_LENGTH; i++) {
    const code = text.charCodeAt(i);
    // NaN (past the end) and codes over 127 fail the comparison.
    const digit = code < 128 ? DIGIT_OF_CODE[code] : -1;
    if (digit < 0) return -1;
    value = value * 32 + digit;
  }
  return value;
}
