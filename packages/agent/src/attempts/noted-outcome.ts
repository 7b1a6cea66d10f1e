import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptFolder } from '../host/work-folder.ts';

const OUTCOME_FILE = 'outcome.json';

/**
 * Calls `run` for how a program ended, unless an earlier agent noted it. The output of a program
 * can be read only once, so an agent that starts later could not find it out again.
 */
export async function notedOutcome<T>(
  folder: AttemptFolder,
  isAdopted: boolean,
  run: () => Promise<T>,
): Promise<T> {
  const path = join(folder.control, OUTCOME_FILE);
  const noted = isAdopted ? await readFile(path, 'utf8').catch(() => '') : '';
  // Without the end of its line it was not written whole.
  if (noted.endsWith('\n')) return JSON.parse(noted) as T;
  const outcome = await run();
  try {
    folder.note(OUTCOME_FILE, `${JSON.stringify(outcome)}\n`);
  } catch {
    // A disk that is full must not change how the program ended.
  }
  return outcome;
}
