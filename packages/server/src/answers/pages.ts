import { LIMITS } from '@sluice/protocol';
import { timeText } from '../base/time-text.ts';
import { invalid } from '../base/validation.ts';

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

/** How fresh a page is. */
export interface PageAge {
  readonly asOf: number;
  readonly lagMs: number;
}

/** A page of a list as JSON text; `cursor` is where the next one begins. */
export function pageJson(
  items: readonly string[],
  cursor: string | undefined,
  { asOf, lagMs }: PageAge,
): string {
  const rest = {
    nextCursor: cursor === undefined ? null : Buffer.from(cursor).toString('base64url'),
    asOf: timeText(asOf),
    lagMs,
  };
  return `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

/** An item of a list that is completely in memory. */
interface Placed {
  /** The item's sort key; unique in the list. */
  readonly place: string;
}

/** A page of a list that is completely in memory, as JSON text. */
export function placedPage<T extends Placed>(
  all: readonly T[],
  { limit = LIMITS.pageDefault, cursor }: PageRequest,
  { show, now }: { readonly show: (item: T) => object; readonly now: number },
): string {
  const after = cursor === undefined ? '' : cursorText(cursor);
  const rest = all
    .filter(({ place }) => place > after)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const shown = rest.slice(0, limit);
  const next = rest.length > limit ? shown.at(-1)?.place : undefined;
  const items = shown.map((item) => JSON.stringify(show(item)));
  return pageJson(items, next, { asOf: now, lagMs: 0 });
}

/** The text that `pageJson` was given. */
export function cursorText(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}

export function badCursor(): Error {
  const problem = 'is not the nextCursor of a page';
  return invalid('the query string is not valid', [{ path: '/cursor', problem }]);
}
