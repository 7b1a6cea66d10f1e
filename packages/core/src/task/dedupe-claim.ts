/** Words of 32 bits in the hash of a dedupe key. */
export const KEY_WORDS = 4;

/** Words of a claim: the key's hash, then the body's. */
export const CLAIM_WORDS = 8;

/** The dedupe key and body of a submit, as hashes of 128 bits. */
export interface DedupeClaim {
  /** Holds the words of the claim from `start` on. */
  words: Uint32Array;
  start: number;
  /** How long the key is remembered; 0 when the task has none. */
  windowMs: number;
}
