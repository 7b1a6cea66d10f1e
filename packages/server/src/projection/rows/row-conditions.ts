/**
 * Builds the statements of searches. Each names its index: SQLite does not know how many rows of
 * each kind there are, and might choose an index with far more rows.
 */
import type { SQLInputValue } from 'node:sqlite';
import { SUCCEEDED, TASK_STATES } from '@sluice/core';
import { type RowQuery, stateNumber } from './row-query.ts';

/**
 * Most tasks succeed. Indexing them by state would cost time for each, and a search finds them as
 * fast without it.
 */
export const IS_RARE = `state <> ${SUCCEEDED}`;

export interface RowSearch {
  /** A statement that returns task numbers, highest first. */
  readonly text: string;
  readonly values: readonly SQLInputValue[];
}

/** The index that leads a search, and the filters that it covers. */
interface Lead {
  readonly from: string;
  readonly covers: readonly (keyof RowQuery)[];
}

/** The statement of a search. Rows hold names as ids, which `idOf` returns. */
export function searchOf(query: RowQuery, idOf: (name: string) => number): RowSearch {
  const { queue, state, parent, text } = query;
  const namespace = idOf(`${query.namespace}/`);
  const conditions = ['tasks.number < ?', 'tasks.number >= ?', 'namespace = ?'];
  const values: SQLInputValue[] = [query.before, query.from, namespace];
  const also = (condition: string, ...more: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  const lead = leadOf(query);
  if (queue !== undefined) also('queue = ?', idOf(queue));
  if (state !== undefined) also('state = ?', stateNumber(state));
  // Repeats the index's condition, because SQLite does not derive it and would refuse the index.
  if (isRare(state)) also(IS_RARE);
  if (query.isOpen !== undefined) also('is_open = 1');
  if (parent !== undefined) also(`parent = ? AND parent <> ''`, parent);
  for (const [place, tag] of tagsOf(query, namespace).entries()) {
    if (place === 0 && lead === BY_TAG) {
      also('led.tag = ? AND led.number < ? AND led.number >= ?', tag, query.before, query.from);
    } else {
      also('EXISTS (SELECT 1 FROM tags WHERE tag = ? AND number = tasks.number)', tag);
    }
  }
  if (text !== undefined) also('(instr(input, ?) OR instr(result, ?))', text, text);
  const order = lead === BY_TAG ? 'led.number' : 'tasks.number';
  return {
    text: `SELECT tasks.number AS number FROM ${lead.from} WHERE ${conditions.join(' AND ')}
      ORDER BY ${order} DESC LIMIT ?`,
    values: [...values, query.limit],
  };
}

/** Whether every scanned row matches. Otherwise there may be many rows between two matches. */
export function isCovered(query: RowQuery): boolean {
  const { covers } = leadOf(query);
  const tags = Object.keys(query.tags ?? {}).length;
  if (tags > 1) return false;
  return FILTERS.every((filter) => query[filter] === undefined || covers.includes(filter));
}

const FILTERS = ['queue', 'state', 'parent', 'tags', 'text', 'isOpen'] as const;

/** The rows of a tag lead to its tasks, ordered by number. */
const BY_TAG: Lead = {
  from: 'tags AS led CROSS JOIN tasks ON tasks.number = led.number',
  covers: ['tags'],
};

function leadOf({ parent, tags, queue, state }: RowQuery): Lead {
  if (parent !== undefined) return by('by_parent', 'parent');
  if (tags !== undefined && Object.keys(tags).length > 0) return BY_TAG;
  if (queue !== undefined && isRare(state)) return by('by_queue_state', 'queue', 'state');
  if (queue !== undefined) return by('by_queue', 'queue');
  if (isRare(state)) return by('by_state', 'state');
  return by('by_namespace');
}

function by(index: string, ...covers: Lead['covers']): Lead {
  return { from: `tasks INDEXED BY ${index}`, covers };
}

export function isRare(state: string | undefined): boolean {
  return state !== undefined && state !== TASK_STATES[SUCCEEDED];
}

function tagsOf({ tags }: RowQuery, namespace: number): string[] {
  return Object.entries(tags ?? {}).map(([name, value]) => tagText(namespace, name, value));
}

/** A tag of one namespace; the same tag of another namespace is a different index entry. */
export function tagText(namespace: number | string, name: string, value: string): string {
  return JSON.stringify([namespace, name, value]);
}
