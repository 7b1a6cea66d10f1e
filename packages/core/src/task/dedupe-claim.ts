/** Words of 32 bits in the hash of a dedupe key. */
export const KEY_WORDS = 4;

/** Words of a claim: the hash of the key, then that of the input. */
export const CLAIM_WORDS = 8;

/** The dedupe key and input of a submit, as hashes of 128 bits. */
export interface DedupeClaim {
  /** Holds the words of the claim from `start` on. */
  words: Uint32Array;
  start: number;
  /** How long the key is remembered; 0 when the task has none. */
  windowMs: number;
}

/** What happens when a key is used with another input. */
export const REFUSE_DUPLICATE = 0;
/** The submit gets the task that the key stands for. */
export const EXISTING_DUPLICATE = 1;
/** A task that no worker holds takes the new input. */
export const REPLACE_DUPLICATE = 2;
