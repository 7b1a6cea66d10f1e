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

/** As text the digest costs a third of what it costs as a buffer. */
function writeHash(words: Uint32Array, at: number, text: string): void {
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

/** The same text for the same value, whatever the order of its fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const names = Object.keys(value).sort();
  const ordered: Record<string, unknown> = {};
  for (const name of names) {
    const part = inOrder((value as Record<string, unknown>)[name]);
    // An assignment to this name would be lost.
    if (name === '__proto__')
      Object.defineProperty(ordered, name, { value: part, enumerable: true });
    else ordered[name] = part;
  }
  return ordered;
}
