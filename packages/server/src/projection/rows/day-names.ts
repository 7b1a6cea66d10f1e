/** The names of the projection's database files. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Their folder inside the folder of the projection. */
export const DAYS_FOLDER = 'days';

export const DAY_NAME = /^(\d{4}-\d\d-\d\d)\.sqlite$/;

/** The file of tasks that outlived their day. Its name sorts before every day. */
export const KEPT = '0000-kept';

/**
 * The files below the projection's folder, in an order in which they can be copied while rows are
 * written. Tasks that outlive their day move to the last file, so they are in at least one copy.
 */
export function filesToCopy(folder: string): string[] {
  const names = readdirSync(join(folder, DAYS_FOLDER));
  const days = names.filter((name) => DAY_NAME.test(name)).sort();
  return [...days, `${KEPT}.sqlite`].map((name) => `${DAYS_FOLDER}/${name}`);
}

/** The last day that was named: many tasks in a row have the same day. */
let namedDay = Number.NaN;
let dayName = '';

export function nameOf(time: number): string {
  const day = Math.floor(time / DAY_MS);
  if (day !== namedDay) {
    dayName = new Date(time).toISOString().slice(0, 10);
    namedDay = day;
  }
  return dayName;
}

export function startOf(name: string): number {
  return name === KEPT ? 0 : Date.parse(`${name}T00:00:00.000Z`);
}

export function endOf(name: string): number {
  return startOf(name) + DAY_MS;
}
