import type { DedupeClaims } from '@sluice/core';
import { LIMITS } from '@sluice/protocol/limits';
import type { TaskBody } from '../define-task.ts';
import { jsonText } from '../json-text.ts';
import { SluiceError } from '../sluice-error.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const UTF8 = {
  encode: (text: string): Uint8Array => encoder.encode(text),
  decode: (bytes: Uint8Array): string => decoder.decode(bytes),
};

/** Values as JSON text one behind the other, and where each ends. Nothing takes no bytes. */
export function joinedPayloads(values: readonly unknown[]): { bytes: Uint8Array; ends: number[] } {
  const texts = values.map((value) => (value === undefined ? new Uint8Array() : encoded(value)));
  const ends: number[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    ends.push(length);
  }
  const bytes = new Uint8Array(length);
  texts.forEach((text, index) => {
    bytes.set(text, ends[index] - text.length);
  });
  return { bytes, ends };
}

/** Refuses what a server would refuse. */
export function encoded(value: unknown): Uint8Array {
  const json = jsonText(value);
  if ('problem' in json) {
    throw new SluiceError('invalid_request', `it is not JSON: ${json.problem}`, { status: 400 });
  }
  const bytes = encoder.encode(json.text);
  if (bytes.length > LIMITS.payloadBytesMax) {
    const message = `it is ${bytes.length} bytes of JSON; at most ${LIMITS.payloadBytesMax} are taken`;
    throw new SluiceError('payload_too_large', message, { status: 413 });
  }
  return bytes;
}

/** Words of 32 bits per hash. */
const HASH_WORDS = 4;

/** The dedupe keys of tasks as the core takes them; `undefined` when none has one. */
export function dedupeClaims(bodies: readonly TaskBody[]): DedupeClaims | undefined {
  if (bodies.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(bodies.length * 2 * HASH_WORDS);
  const windowsMs = bodies.map(({ dedupeKey, dedupeWindowMs, ...body }, index) => {
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    words.set(hashOf(`${body.type}\0${dedupeKey}`), at);
    words.set(hashOf(sortedJson(body)), at + HASH_WORDS);
    return dedupeWindowMs ?? LIMITS.dedupeWindowMsDefault;
  });
  return { words, windowsMs };
}

/** Tells the few keys of a test apart; a server uses a hash that nobody can aim at. */
function hashOf(text: string): Uint32Array {
  const words = Uint32Array.of(0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    for (let i = 0; i < HASH_WORDS; i++) {
      const mixed = Math.imul(words[i] ^ (unit + i), 0x01000193 + 2 * i);
      words[i] = mixed ^ (mixed >>> 15);
    }
  }
  return words;
}

/** The same text for the same value, whatever the order of its fields. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
