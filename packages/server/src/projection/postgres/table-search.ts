import { IS_RARE, isRare, tagText } from '../rows/row-conditions.ts';
import { type RowQuery, stateNumber } from '../rows/row-query.ts';
import type { DayTableNames } from './day-tables.ts';

export interface TableSearch {
  /** A statement that returns task numbers, highest first. */
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The statement of a search. The database knows its rows and chooses the index itself. */
export function tableSearch(query: RowQuery, { task, tag }: DayTableNames): TableSearch {
  const { namespace, queue, state, parent, text } = query;
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const conditions = [
    `number < ${value(query.before)}`,
    `number >= ${value(query.from)}`,
    `namespace = ${value(namespace)}`,
  ];
  if (queue !== undefined) conditions.push(`queue = ${value(queue)}`);
  if (state !== undefined) conditions.push(`state = ${value(stateNumber(state))}`);
  // Repeats the index's condition: the value of a parameter is not known when it is chosen.
  if (isRare(state)) conditions.push(IS_RARE);
  if (query.isOpen !== undefined) conditions.push('is_open');
  if (parent !== undefined) {
    conditions.push(`parent = ${value(Buffer.from(parent))}`, `parent <> ''`);
  }
  for (const [name, given] of Object.entries(query.tags ?? {})) {
    const wanted = value(tagText(namespace, name, given));
    conditions.push(
      `EXISTS (SELECT 1 FROM ${tag} t WHERE t.tag = ${wanted} AND t.number = task.number)`,
    );
  }
  if (text !== undefined) {
    const wanted = value(Buffer.from(text));
    conditions.push(`(position(${wanted} in input) > 0 OR position(${wanted} in result) > 0)`);
  }
  return {
    text: `SELECT number::float8 AS number FROM ${task} task
      WHERE ${conditions.join(' AND ')} ORDER BY task.number DESC LIMIT ${value(query.limit)}`,
    values,
  };
}
