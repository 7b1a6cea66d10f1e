import type { UnreadableFile } from '../commands/definition-files.ts';
import { DATA_EXTENSIONS, dataIn, filesBelow } from '../commands/definition-files.ts';

/** A schedule in a file. */
export interface ScheduleFile {
  readonly file: string;
  readonly id: string;
  /** The schedule without its id, as the API takes it. */
  readonly schedule: Readonly<Record<string, unknown>>;
}

const FORM = '{id, spec, task or run}, a list of them, or {schedules: […]}';

/** Reads all schedules below the paths. An id that occurs twice is a problem of the second. */
export async function readSchedules(
  paths: readonly string[],
): Promise<(ScheduleFile | UnreadableFile)[]> {
  const files = await filesBelow(paths, DATA_EXTENSIONS);
  const found = (await Promise.all(files.map(readOne))).flat();
  const first = new Map<string, string>();
  return found.map((each) => {
    if ('problem' in each) return each;
    const before = first.get(each.id);
    if (before === undefined) {
      first.set(each.id, each.file);
      return each;
    }
    const where = before === each.file ? 'in this file' : `first in ${before}`;
    return { file: each.file, id: each.id, problem: `the id is used twice, ${where}` };
  });
}

/** The only schedule in a file, whose id may be left out. */
export async function readSchedule(file: string, id: string): Promise<object | UnreadableFile> {
  try {
    const values = valuesOf(await dataIn(file));
    const [value] = values;
    if (values.length !== 1 || !isObject(value)) {
      return { file, problem: "it must hold one schedule; 'sluice schedule apply' takes more" };
    }
    const { id: given = id, ...schedule } = value;
    if (given === id) return schedule;
    return { file, problem: `its id is ${JSON.stringify(given)}, not '${id}'` };
  } catch (cause) {
    return { file, problem: (cause as Error).message };
  }
}

async function readOne(file: string): Promise<(ScheduleFile | UnreadableFile)[]> {
  try {
    const values = valuesOf(await dataIn(file));
    // An empty file is more likely a mistake, and with --delete-missing an expensive one.
    if (values.length === 0) return [{ file, problem: `it has no schedule: ${FORM}` }];
    return values.map((value, place) => describe(file, value, place));
  } catch (cause) {
    return [{ file, problem: (cause as Error).message }];
  }
}

function valuesOf(values: readonly unknown[]): unknown[] {
  return values.flatMap((value) => {
    return isObject(value) && Array.isArray(value.schedules) ? value.schedules : [value];
  });
}

function describe(file: string, value: unknown, place: number): ScheduleFile | UnreadableFile {
  if (!isObject(value)) return { file, problem: `entry ${place + 1} is no schedule: ${FORM}` };
  const { id, ...schedule } = value;
  if (typeof id === 'string' && id !== '') return { file, id, schedule };
  const problem = id === undefined ? 'has no id' : `has the id ${JSON.stringify(id)}, no text`;
  return { file, problem: `entry ${place + 1} ${problem}; a schedule is ${FORM}` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
