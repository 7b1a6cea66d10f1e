import type { Engine } from '@sluice/engine';
import { LIMITS } from '@sluice/protocol';
import type { Admission } from '../admission.ts';
import { invalid } from '../http/validation.ts';
import { timeText } from '../time-text.ts';
import { makeTaskFilter, type TaskFilter } from './task-filter.ts';
import { type ScanPlace, scanStart, scanTasks } from './task-scan.ts';
import { taskViewJson } from './task-view.ts';

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of the tasks in memory, newest first, as JSON text. */
export function listTasks(
  { engine, admission }: { readonly engine: Engine; readonly admission: Admission },
  filter: TaskFilter,
  { limit = LIMITS.pageDefault, cursor }: PageRequest,
): Promise<string> {
  const from = cursor === undefined ? undefined : parsePlace(cursor);
  const isMeant = makeTaskFilter(filter);
  admission.read();
  return engine.read((state, partition) => {
    const items: string[] = [];
    const next = scanTasks(state, from ?? scanStart(state), (slot) => {
      if (isMeant(state, slot)) items.push(taskViewJson(state, slot, partition.progressOf(slot)));
      return items.length === limit;
    });
    return pageJson(items, next && `${next.number}.${next.passed}`, state.now);
  });
}

export function pageJson(
  items: readonly string[],
  cursor: string | undefined,
  now: number,
): string {
  const rest = {
    nextCursor: cursor === undefined ? null : Buffer.from(cursor).toString('base64url'),
    asOf: timeText(now),
    lagMs: 0,
  };
  return `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

/** The text that `pageJson` was given. */
export function cursorText(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}

export function badCursor(): Error {
  const problem = 'is not the nextCursor of a page';
  return invalid('the query string is not valid', [{ path: '/cursor', problem }]);
}

function parsePlace(cursor: string): ScanPlace {
  const [, number, passed] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursorText(cursor)) ?? [];
  if (number === undefined) throw badCursor();
  return { number: Number(number), passed: Number(passed) };
}
