import type { Static, TSchema } from 'typebox';
import type { Checker } from './validation.ts';

/** Reads a query string by its schema. Text that is a whole number counts as one. */
export function parseQuery<T extends TSchema>(checker: Checker<T>, query: unknown): Static<T> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query as Record<string, unknown>)) {
    values[name] = typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }
  return checker.parse(values, 'the query string is not valid');
}
