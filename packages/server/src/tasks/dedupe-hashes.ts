import { hash } from 'node:crypto';
import type { DedupeClaims } from '@sluice/core';
import { LIMITS, type TaskRequest } from '@sluice/protocol';

/** Words of 32 bits per hash of 128. */
const HASH_WORDS = 4;

/** The dedupe keys of a submit as the core takes them; `undefined` when no task has one. */
export function dedupeClaims(
  namespace: string,
  requests: readonly TaskRequest[],
): DedupeClaims | undefined {
  if (requests.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(requests.length * 2 * HASH_WORDS);
  const windowsMs = requests.map((request, index) => {
    const { dedupeKey, dedupeWindowMs, ...body } = request;
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    writeHash(words, at, `${namespace}/${request.type}\0${dedupeKey}`);
    writeHash(words, at + HASH_WORDS, canonicalJson(body));
    return dedupeWindowMs ?? LIMITS.dedupeWindowMsDefault;
  });
  return { words, windowsMs };
}

function writeHash(words: Uint32Array, at: number, text: string): void {
  const digest = hash('sha256', text, 'buffer');
  for (let i = 0; i < HASH_WORDS; i++) words[at + i] = digest.readUInt32LE(i * 4);
}

/** The same text for the same value, whatever the order of its fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
