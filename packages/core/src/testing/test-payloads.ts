import type { DedupeClaims } from '../commands/tasks/duplicates.ts';
import { type DedupeClaim, REFUSE_DUPLICATE } from '../task/dedupe-claim.ts';
import { testUtf8 } from './test-utf8.ts';

/** Small numbers stand for the hashes of key and input. */
export interface TestDedupe {
  readonly key: number;
  readonly input: number;
  readonly windowMs: number;
  /** A number of `dedupe-claim.ts`; absent to refuse. */
  readonly onDuplicate?: number;
}

/** Joins texts as commands carry payloads: one after the other, with their ends. */
export function joined(texts: readonly string[]): { bytes: Uint8Array; ends: number[] } {
  const parts = texts.map((text) => testUtf8.encode(text));
  const ends: number[] = [];
  for (const part of parts) ends.push((ends.at(-1) ?? 0) + part.length);
  const bytes = new Uint8Array(ends.at(-1) ?? 0);
  parts.forEach((part, index) => {
    bytes.set(part, ends[index] - part.length);
  });
  return { bytes, ends };
}

/** The hash that a small number stands for. */
export function hashWords(number: number): Uint32Array {
  return Uint32Array.of(number % 2, 1, 2, number);
}

export function claimOf({ key, input, windowMs }: TestDedupe): DedupeClaim {
  const words = Uint32Array.from([...hashWords(key), ...hashWords(input)]);
  return { words, start: 0, windowMs };
}

/** Keys share their first words, so that their hashes share a chain of the index. */
export function claimsOf(tasks: readonly { readonly dedupe?: TestDedupe }[]): {
  dedupe?: DedupeClaims;
} {
  if (tasks.every(({ dedupe }) => dedupe === undefined)) return {};
  const words = tasks.flatMap(({ dedupe }) => {
    const { key = 0, input = 0 } = dedupe ?? {};
    return [...hashWords(key), ...hashWords(input)];
  });
  const windowsMs = tasks.map(({ dedupe }) => dedupe?.windowMs ?? 0);
  const onDuplicate = tasks.map(({ dedupe }) => dedupe?.onDuplicate ?? REFUSE_DUPLICATE);
  return { dedupe: { words: Uint32Array.from(words), windowsMs, onDuplicate } };
}

/** The payload at this place of a command. */
export function payloadAt(bytes: Uint8Array, ends: ArrayLike<number>, place: number): string {
  return testUtf8.decode(bytes.subarray(place === 0 ? 0 : ends[place - 1], ends[place]));
}
