import { invalid } from '../http/validation.ts';
import { timeText } from '../time-text.ts';

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

/** How new a page is. */
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

/** The text that `pageJson` was given. */
export function cursorText(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}

export function badCursor(): Error {
  const problem = 'is not the nextCursor of a page';
  return invalid('the query string is not valid', [{ path: '/cursor', problem }]);
}
