import { hash, randomBytes } from 'node:crypto';

/**
 * The text of a key: `slk_`, its id without `k_`, and 256 random bits. The id is the creation time
 * and 32 random bits, so ids sort by time. When a text is found in the wrong place, its id shows
 * which key to revoke.
 *
 * 256 random bits need no slow hash: they cannot be guessed.
 */
const KEY_TEXT = /^slk_([0-9a-f]{20})_[0-9a-f]{64}$/;

const ID_PREFIX = 'k_';
const TEXT_PREFIX = 'slk_';

const TIME_DIGITS = 12;
const ID_BYTES = 4;
const SECRET_BYTES = 32;

export interface NewKey {
  readonly id: string;
  /** Sent once to the client that created the key, and stored nowhere. */
  readonly text: string;
  readonly hash: string;
}

export function makeKey(now: number): NewKey {
  const time = Math.floor(now).toString(16).padStart(TIME_DIGITS, '0');
  const own = `${time}${randomBytes(ID_BYTES).toString('hex')}`;
  const text = `${TEXT_PREFIX}${own}_${randomBytes(SECRET_BYTES).toString('hex')}`;
  return { id: `${ID_PREFIX}${own}`, text, hash: hashOfKey(text) };
}

/** The id in a key's text, or undefined when the text has not the form of a key. */
export function idOfText(text: string): string | undefined {
  const [, own] = KEY_TEXT.exec(text) ?? [];
  return own === undefined ? undefined : `${ID_PREFIX}${own}`;
}

/** The hash that is stored for a key, in hexadecimal. */
export function hashOfKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * Error messages quote texts of users. A key that was put in the wrong field must not be quoted.
 */
export function withoutKeys(text: string): string {
  return text.includes(TEXT_PREFIX) ? '(a key)' : text;
}
