import type { LineCopies, LineEntry } from '@sluice/postgres';
import type { AttemptLines } from '../logs/log-file.ts';
import { dayOf, TaskLogs } from '../logs/task-logs.ts';
import type { MoveProgress } from './moved-data.ts';

/** Entries, and characters of their lines, that are written at once. */
const SLICE_ENTRIES = 500;
const SLICE_CHARACTERS = 2 ** 20;

/** The limits of an attempt must not drop lines that the source has kept. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Copies the lines of all tasks into the database. */
export async function copyLinesToStore(
  folder: string,
  target: LineCopies,
  progress: MoveProgress,
): Promise<void> {
  let slice: LineEntry[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    const [first] = slice;
    if (first !== undefined) await target.write(first.day, slice);
    progress.add('lines', { lines: linesIn(slice) });
    [slice, characters] = [[], 0];
  };
  for await (const entries of new TaskLogs({ folder }).readAll()) {
    for (const { id, ...entry } of entries) {
      const day = dayOf(id);
      const isOther = slice.length > 0 && slice[0].day !== day;
      if (isOther || slice.length >= SLICE_ENTRIES || characters >= SLICE_CHARACTERS) await flush();
      slice.push({ ...entry, task: id, day });
      characters += entry.lines.reduce((sum, line) => sum + line.length, 0);
    }
  }
  await flush();
}

/** The way back. */
export async function copyLinesToFolder(
  source: LineCopies,
  folder: string,
  progress: MoveProgress,
): Promise<void> {
  const logs = new TaskLogs({ folder, attemptBytesMax: UNLIMITED, totalBytesMax: UNLIMITED });
  for await (const entries of source.read()) {
    for (const { task, day: _, ...entry } of entries) await logs.append({ ...entry, id: task });
    progress.add('lines', { lines: linesIn(entries) });
  }
}

function linesIn(entries: readonly Pick<AttemptLines, 'lines'>[]): number {
  return entries.reduce((sum, { lines }) => sum + lines.length, 0);
}
