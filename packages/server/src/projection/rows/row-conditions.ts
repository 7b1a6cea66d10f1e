/**
 * How rows are looked for. The index is named, because SQLite knows nothing of how many rows there
 * are of each kind, and would take one that leads to far more of them.
 */
import type { SQLInputValue } from 'node:sqlite';
import { SUCCEEDED, TASK_STATES } from '@sluice/core';
import { type RowQuery, stateNumber } from './row-query.ts';

/**
 * Most tasks succeed in the end: an index of them by state would cost every one of them, and a
 * search finds them among all as fast.
 */
export const IS_RARE = `state <> ${SUCCEEDED}`;

export interface RowSearch {
  /** A statement that answers numbers of tasks, the highest first. */
  readonly text: string;
  readonly values: readonly SQLInputValue[];
}

/** What a search is led by, and which of its filters that covers. */
interface Lead {
  readonly from: string;
  readonly covers: readonly (keyof RowQuery)[];
}

/** The rows of a search. Names are numbers in rows; `idOf` knows them. */
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
  // Said as the index says it: SQLite does not conclude it, and would refuse the index.
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

/** Whether every row that is looked at is meant; else there may be many between two of them. */
export function isCovered(query: RowQuery): boolean {
  const { covers } = leadOf(query);
  const tags = Object.keys(query.tags ?? {}).length;
  if (tags > 1) return false;
  return FILTERS.every((filter) => query[filter] === undefined || covers.includes(filter));
}

const FILTERS = ['queue', 'state', 'parent', 'tags', 'text', 'isOpen'] as const;

/** The row of a tag leads to its task, in the order of numbers. */
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

function isRare(state: string | undefined): boolean {
  return state !== undefined && state !== TASK_STATES[SUCCEEDED];
}

function tagsOf({ tags }: RowQuery, namespace: number): string[] {
  return Object.entries(tags ?? {}).map(([name, value]) => tagText(namespace, name, value));
}

/** A tag of one namespace: the same tag of another is another entry of the index. */
export function tagText(namespace: number, name: string, value: string): string {
  return JSON.stringify([namespace, name, value]);
}
