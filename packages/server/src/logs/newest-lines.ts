import { timeText } from '../base/time-text.ts';
import type { AttemptLines } from './log-file.ts';

export interface ShownLine {
  readonly attempt: number;
  readonly at: string;
  readonly line: string;
}

export function shownLines({ attempt, at, lines }: AttemptLines): ShownLine[] {
  return lines.map((line) => ({ attempt, at: timeText(at), line }));
}

/** Maximum characters of one answer: a task with a thousand attempts may have a GiB of lines. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** The last lines, within `limit` and `charactersMax`, with two files in memory at a time. */
export async function newestLines(
  files: AsyncIterable<readonly AttemptLines[]>,
  limit: number,
  charactersMax = CHARACTERS_MAX,
): Promise<ShownLine[]> {
  let kept: ShownLine[] = [];
  for await (const entries of files) {
    const lines = [...kept, ...entries.flatMap(shownLines)].slice(-limit);
    kept = lines.slice(firstWithin(lines, charactersMax));
  }
  return kept;
}

/** Index of the first line that fits `charactersMax`; the last line always fits. */
function firstWithin(lines: readonly ShownLine[], charactersMax: number): number {
  let left = charactersMax;
  let first = lines.length;
  while (first > 0 && (left > 0 || first === lines.length)) {
    first -= 1;
    left -= lines[first].line.length;
  }
  return first;
}
