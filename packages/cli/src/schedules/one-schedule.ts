import type { Schedule } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { suggesting } from '../api/nearest-name.ts';
import { readList } from '../commands/shared.ts';

/** Ids that a suggestion is chosen from: a namespace may have a million. */
const COMPARED_MAX = 1000;

/** `.` and `..` in an address mean another place, even when they are escaped. */
export function pathOf(id: string): string {
  if (id === '.' || id === '..') {
    throw new RefusedError(`no address can have the id '${id}': choose another one`);
  }
  return `/v1/schedules/${encodeURIComponent(id)}`;
}

/** Makes a call about a schedule. If there is none with this id, the error says which there are. */
export function aboutSchedule<T>(api: ApiCaller, id: string, call: Promise<T>): Promise<T> {
  return suggesting(call, {
    code: 'schedule_not_found',
    word: id,
    what: 'schedules',
    names: async () => {
      const limit = COMPARED_MAX;
      return (await readList<Schedule>(api, '/v1/schedules', { limit })).items.map(idOf);
    },
  });
}

function idOf({ id }: Schedule): string {
  return id;
}
