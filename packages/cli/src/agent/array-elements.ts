import { readFile } from 'node:fs/promises';
import { UsageError } from '../base/usage-error.ts';

/** Commands that one call runs at most. */
export const ELEMENTS_MAX = 10_000;

const RANGE = /^(-?\d{1,9})-(-?\d{1,9})(?::(\d{1,9}))?$/;

/** The elements of `--array`: ranges and words between commas, or the lines of a file. */
export async function elementsOf(text: string): Promise<string[]> {
  const elements = text.startsWith('@') ? await linesOf(text.slice(1)) : wordsOf(text);
  if (elements.length === 0) throw new UsageError(`--array '${text}' has no elements`);
  if (elements.length > ELEMENTS_MAX) {
    throw new UsageError(`--array has ${elements.length} elements; at most ${ELEMENTS_MAX}`);
  }
  return elements;
}

async function linesOf(file: string): Promise<string[]> {
  try {
    const text = await readFile(file, 'utf8');
    return text.split(/\r?\n/).filter((line) => line !== '');
  } catch (cause) {
    throw new UsageError(`--array cannot read the file: ${(cause as Error).message}`, { cause });
  }
}

function wordsOf(text: string): string[] {
  return text.split(',').flatMap((word) => {
    if (word === '') throw new UsageError(`--array '${text}' has nothing between two commas`);
    const [, first, last, step = '1'] = RANGE.exec(word) ?? [];
    if (first === undefined) return [word];
    return rangeOf(word, { first: Number(first), last: Number(last), step: Number(step) });
  });
}

function rangeOf(
  word: string,
  { first, last, step }: { first: number; last: number; step: number },
): string[] {
  if (last < first || step === 0) {
    throw new UsageError(`--array '${word}' is no range: write the smaller number first, as 1-100`);
  }
  const count = Math.floor((last - first) / step) + 1;
  // The caller refuses what is too long; here it only must not fill the memory.
  const length = Math.min(count, ELEMENTS_MAX + 1);
  return Array.from({ length }, (_, index) => String(first + index * step));
}

/** The command for one element. Without any `{}` the element is its last argument. */
export function commandFor(command: readonly string[], element: string): string[] {
  if (!command.some((word) => word.includes('{}'))) return [...command, element];
  return command.map((word) => word.replaceAll('{}', element));
}
