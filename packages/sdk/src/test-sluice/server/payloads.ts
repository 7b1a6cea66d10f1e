import { blobReference, type DedupeClaims } from '@sluice/core';
import { LIMITS } from '@sluice/protocol/limits';
import { jsonText } from '../../base/json-text.ts';
import { SluiceError } from '../../calls/sluice-error.ts';
import type { TaskBody } from '../../task/define-task.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const UTF8 = {
  encode: (text: string): Uint8Array => encoder.encode(text),
  decode: (bytes: Uint8Array): string => decoder.decode(bytes),
};

/** Stores payloads that are too big for a request; returns their names. */
export interface LargePayloads {
  keep(text: string): string;
}

/**
 * Values as JSON text, one after the other, and where each ends. An undefined value takes no bytes.
 */
export function joinedPayloads(
  values: readonly unknown[],
  pathOf: (index: number) => string,
  large?: LargePayloads,
): { bytes: Uint8Array; ends: number[] } {
  const texts = values.map((value, index) => {
    return value === undefined ? new Uint8Array() : encoded(value, pathOf(index), large);
  });
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

/**
 * Refuses what a server would refuse. `path` is its place in the request. Without `large` it cannot
 * be sent as a blob.
 */
export function encoded(value: unknown, path: string, large?: LargePayloads): Uint8Array {
  const json = jsonText(value);
  if ('problem' in json) throw refusal(400, path, `is not JSON: ${json.problem}`);
  const bytes = encoder.encode(json.text);
  const { payloadBytesMax, payloadDepthMax, blobBytesMax } = LIMITS;
  const bytesMax = large === undefined ? payloadBytesMax : blobBytesMax;
  if (bytes.length > bytesMax) {
    throw refusal(413, path, `is ${bytes.length} bytes of JSON; at most ${bytesMax} are taken`);
  }
  if (large !== undefined && bytes.length > payloadBytesMax) {
    return encoder.encode(blobReference(large.keep(json.text)));
  }
  if (depthOf(json.text) > payloadDepthMax) {
    throw refusal(400, path, `is nested too deeply: ${payloadDepthMax} levels are taken`);
  }
  return bytes;
}

function refusal(status: 400 | 413, path: string, problem: string): SluiceError {
  const code = status === 400 ? 'invalid_request' : 'payload_too_large';
  const details = [{ path, problem }];
  return new SluiceError(code, `${path} ${problem}`, { status, details });
}

/** Nesting depth of arrays and objects. */
function depthOf(json: string): number {
  let deepest = 0;
  let depth = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Words of 32 bits per hash. */
const HASH_WORDS = 4;

/** In the order of the core's numbers. */
const POLICIES: readonly NonNullable<TaskBody['onDuplicate']>[] = ['refuse', 'existing', 'replace'];

/** The dedupe keys of tasks in the core's form; `undefined` when no task has one. */
export function dedupeClaims(bodies: readonly TaskBody[]): DedupeClaims | undefined {
  if (bodies.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(bodies.length * 2 * HASH_WORDS);
  const windowsMs = bodies.map(({ dedupeKey, dedupeWindowMs, type, input = null }, index) => {
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    words.set(hashOf(`${type}\0${dedupeKey}`), at);
    words.set(inputWords(input), at + HASH_WORDS);
    return dedupeWindowMs ?? LIMITS.dedupeWindowMsDefault;
  });
  const onDuplicate = bodies.map(({ onDuplicate: policy = 'refuse' }) => POLICIES.indexOf(policy));
  return { words, windowsMs, onDuplicate };
}

/** The part of a dedupe claim that stands for the input. */
export function inputWords(input: unknown): Uint32Array {
  return hashOf(sortedJson(input));
}

/** Distinguishes the few keys of a test; a server uses a cryptographic hash. */
export function hashOf(text: string): Uint32Array {
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
