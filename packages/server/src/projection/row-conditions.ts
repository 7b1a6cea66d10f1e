import type { SQLInputValue } from 'node:sqlite';
import { SUCCEEDED, TASK_STATES } from '@sluice/core';
import { type RowQuery, stateNumber } from './row-query.ts';

/**
 * Most tasks succeed in the end: an index of them by state would cost every one of them, and a
 * search finds them among all as fast.
 */
export const IS_RARE = `state <> ${SUCCEEDED}`;

/** What a row must be to be found. Names are numbers in rows; `idOf` knows them. */
export function conditionsOf(query: RowQuery, idOf: (name: string) => number) {
  const { queue, state, parent, tags, text } = query;
  const namespace = idOf(`${query.namespace}/`);
  const conditions = ['number < ?', 'number >= ?', 'namespace = ?'];
  const values: SQLInputValue[] = [query.before, query.from, namespace];
  const also = (condition: string, ...more: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (queue !== undefined) also('queue = ?', idOf(queue));
  if (state !== undefined) also('state = ?', stateNumber(state));
  // Said as the index says it: SQLite does not conclude it, and would look at every row.
  if (state !== undefined && state !== TASK_STATES[SUCCEEDED]) also(IS_RARE);
  if (query.isOpen !== undefined) also('is_open = 1');
  if (parent !== undefined) also(`parent = ? AND parent <> ''`, parent);
  for (const [name, value] of Object.entries(tags ?? {})) {
    const tag = tagText(namespace, name, value);
    also('number IN (SELECT number FROM tags WHERE tag = ?)', tag);
  }
  if (text !== undefined) also('(instr(input, ?) OR instr(result, ?))', text, text);
  return { where: conditions.join(' AND '), values };
}

/** A tag of one namespace: the same tag of another is another entry of the index. */
export function tagText(namespace: number, name: string, value: string): string {
  return JSON.stringify([namespace, name, value]);
}
