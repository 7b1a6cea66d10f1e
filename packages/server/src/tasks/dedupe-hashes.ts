import { hash } from 'node:crypto';
import {
  type DedupeClaims,
  EXISTING_DUPLICATE,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
} from '@sluice/core';
import { LIMITS, type TaskRequest } from '@sluice/protocol';
import { HASH_WORDS, ValueHash } from './value-hash.ts';

const inputHash = new ValueHash();

const POLICIES = {
  refuse: REFUSE_DUPLICATE,
  existing: EXISTING_DUPLICATE,
  replace: REPLACE_DUPLICATE,
} as const;

/** The dedupe keys of a submit as the core takes them; `undefined` when no task has one. */
export function dedupeClaims(
  namespace: string,
  requests: readonly TaskRequest[],
): DedupeClaims | undefined {
  if (requests.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(requests.length * 2 * HASH_WORDS);
  const windowsMs = requests.map((request, index) => {
    const { dedupeKey, dedupeWindowMs } = request;
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    writeKeyHash(words, at, `${namespace}/${request.type}\0${dedupeKey}`);
    inputHash.write(words, at + HASH_WORDS, comparedInput(request));
    return dedupeWindowMs ?? LIMITS.dedupeWindowMsDefault;
  });
  if (requests.every(({ onDuplicate }) => onDuplicate === undefined)) return { words, windowsMs };
  const onDuplicate = requests.map(({ onDuplicate: policy = 'refuse' }) => POLICIES[policy]);
  return { words, windowsMs, onDuplicate };
}

/** The words that a claim has for this input. */
export function inputWords(request: Pick<TaskRequest, 'input' | 'inputBlob'>): Uint32Array {
  const words = new Uint32Array(HASH_WORDS);
  inputHash.write(words, 0, comparedInput(request));
  return words;
}

/** No input is null. A blob is named by its hash, in a form that no input has. */
function comparedInput({
  input = null,
  inputBlob,
}: Pick<TaskRequest, 'input' | 'inputBlob'>): unknown {
  return inputBlob === undefined ? [input] : { inputBlob };
}

/**
 * A cryptographic hash, because with a weak one a namespace could claim keys of another. The digest
 * as text costs a third of the digest as a buffer.
 */
export function writeKeyHash(words: Uint32Array, at: number, text: string): void {
  const digest = hash('sha256', text, 'binary');
  for (let i = 0; i < HASH_WORDS; i++) {
    const first = i * 4;
    words[at + i] =
      digest.charCodeAt(first) |
      (digest.charCodeAt(first + 1) << 8) |
      (digest.charCodeAt(first + 2) << 16) |
      (digest.charCodeAt(first + 3) << 24);
  }
}
