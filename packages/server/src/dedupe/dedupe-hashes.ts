import { hash } from 'node:crypto';
import {
  type DedupeClaims,
  EXISTING_DUPLICATE,
  NO_SLOT,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
  type ReadonlyState,
} from '@sluice/core';
import { LIMITS, type TaskRequest } from '@sluice/protocol';
import { HASH_WORDS, ValueHash } from './value-hash.ts';

const inputHash = new ValueHash();

/** Claims of tasks that have no dedupe key. Returns the window. */
export interface OtherClaims {
  write(words: Uint32Array, at: number, place: number): number;
}

const POLICIES = {
  refuse: REFUSE_DUPLICATE,
  existing: EXISTING_DUPLICATE,
  replace: REPLACE_DUPLICATE,
} as const;

/**
 * The dedupe keys of a submit as the core takes them; `undefined` when no task has one. `others`
 * are the words for tasks without one.
 */
export function dedupeClaims(
  namespace: string,
  requests: readonly TaskRequest[],
  others?: OtherClaims,
): DedupeClaims | undefined {
  if (requests.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(requests.length * 2 * HASH_WORDS);
  const windowsMs = requests.map((request, index) => {
    const { dedupeKey, dedupeWindowMs } = request;
    const at = index * 2 * HASH_WORDS;
    if (dedupeKey === undefined) return others?.write(words, at, index) ?? 0;
    writeKeyHash(words, at, `${namespace}/${request.type}\0${dedupeKey}`);
    inputHash.write(words, at + HASH_WORDS, comparedInput(request));
    return dedupeWindowMs ?? LIMITS.dedupeWindowMsDefault;
  });
  if (requests.every(({ onDuplicate }) => onDuplicate === undefined)) return { words, windowsMs };
  const onDuplicate = requests.map(({ onDuplicate: policy = 'refuse' }) => POLICIES[policy]);
  return { words, windowsMs, onDuplicate };
}

/**
 * Version 0.1 compared whole requests, so a key that it stored has the hash of one. Returns the
 * places of tasks that are the same by that rule, each with the words that its claim must have.
 */
export function olderInputWords(
  requests: readonly TaskRequest[],
  { words, windowsMs }: DedupeClaims,
  { dedupe }: ReadonlyState,
): Map<number, Uint32Array> {
  const found = new Map<number, Uint32Array>();
  requests.forEach(({ dedupeWindowMs: _, onDuplicate: __, ...compared }, place) => {
    const claim = { words, start: place * 2 * HASH_WORDS, windowMs: windowsMs[place] };
    if (claim.windowMs === 0) return;
    const entry = dedupe.find(claim);
    if (entry === NO_SLOT || dedupe.hasSameInput(entry, claim)) return;
    const older = new Uint32Array(2 * HASH_WORDS);
    inputHash.write(older, HASH_WORDS, compared);
    if (!dedupe.hasSameInput(entry, { ...claim, words: older, start: 0 })) return;
    found.set(place, older.subarray(HASH_WORDS));
  });
  return found;
}

/** Makes the claims those of the older requests. */
export function useInputWords(
  { words }: DedupeClaims,
  older: ReadonlyMap<number, Uint32Array>,
): void {
  for (const [place, input] of older) words.set(input, (place * 2 + 1) * HASH_WORDS);
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
  writeWords(words, at, hash('sha256', text, 'binary'));
}

/** The first words of a digest, which has one byte per character. */
export function writeWords(words: Uint32Array, at: number, digest: string): void {
  for (let i = 0; i < HASH_WORDS; i++) {
    const first = i * 4;
    words[at + i] =
      digest.charCodeAt(first) |
      (digest.charCodeAt(first + 1) << 8) |
      (digest.charCodeAt(first + 2) << 16) |
      (digest.charCodeAt(first + 3) << 24);
  }
}
