import { hash, randomBytes } from 'node:crypto';

/**
 * The text of a key: `slk_`, what its id has behind `k_`, and 256 random bits. The id is the time
 * it was made and some more chance, so that ids sort by time; whoever finds a text in the wrong
 * place can say from it which key to revoke.
 *
 * So much chance needs no slow hash: nobody can try texts until one fits.
 */
const KEY_TEXT = /^slk_([0-9a-f]{20})_[0-9a-f]{64}$/;

const ID_PREFIX = 'k_';
const TEXT_PREFIX = 'slk_';

const TIME_DIGITS = 12;
const ID_BYTES = 4;
const SECRET_BYTES = 32;

export interface NewKey {
  readonly id: string;
  /** Goes to whoever asked for the key, and is kept nowhere. */
  readonly text: string;
  readonly hash: string;
}

export function makeKey(now: number): NewKey {
  const time = Math.floor(now).toString(16).padStart(TIME_DIGITS, '0');
  const own = `${time}${randomBytes(ID_BYTES).toString('hex')}`;
  const text = `${TEXT_PREFIX}${own}_${randomBytes(SECRET_BYTES).toString('hex')}`;
  return { id: `${ID_PREFIX}${own}`, text, hash: hashOfKey(text) };
}

/** The id of the key that a text may be of; nothing when it is no key at all. */
export function idOfText(text: string): string | undefined {
  const [, own] = KEY_TEXT.exec(text) ?? [];
  return own === undefined ? undefined : `${ID_PREFIX}${own}`;
}

/** What is kept of a key, as hexadecimal digits. */
export function hashOfKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Words of users end up in messages; a key that stands in the wrong place does not. */
export function withoutKeys(text: string): string {
  return text.includes(TEXT_PREFIX) ? '(a key)' : text;
}
