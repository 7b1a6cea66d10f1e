import { isDead, isTerminal, namespaceOf, parseTags, TASK_STATES, type Tags } from '@sluice/core';
import type { TaskRecord } from './task-record.ts';

/** What is looked for; all of it must hold. */
export interface RowQuery {
  readonly namespace: string;
  /** Numbers below this, newest first. */
  readonly before: number;
  /** Numbers from this on. */
  readonly from: number;
  readonly limit: number;
  /** Key of a queue. */
  readonly queue?: string;
  /** Name of a state. */
  readonly state?: string;
  readonly tags?: Tags;
  readonly parent?: string;
  /** Those alone that retention must not take: tasks that have not ended, and dead letters. */
  readonly isOpen?: true;
  /** In the input, or in the output or error. */
  readonly text?: string;
}

/** When a task was submitted: from one time on, and before another. */
export interface Times {
  readonly since: number;
  readonly until: number;
}

/** What of a task is looked at. */
export type Searched = Readonly<
  Pick<
    TaskRecord,
    | 'number'
    | 'submittedAt'
    | 'queue'
    | 'state'
    | 'parent'
    | 'tags'
    | 'input'
    | 'result'
    | 'isDiscarded'
  >
>;

/** Whether a task is looked for: the same as the conditions on rows say. */
export function isMeant(record: Searched, query: RowQuery, { since, until }: Times): boolean {
  const { number, submittedAt } = record;
  const { queue, state, tags, parent, text } = query;
  return (
    number < query.before &&
    number >= query.from &&
    submittedAt >= since &&
    submittedAt < until &&
    (queue === undefined || record.queue === queue) &&
    (state === undefined || TASK_STATES[record.state] === state) &&
    (parent === undefined || record.parent === parent) &&
    (query.isOpen === undefined || isOpen(record)) &&
    namespaceOf(record.queue) === query.namespace &&
    (tags === undefined || hasTags(record, tags)) &&
    (text === undefined || record.input.includes(text) || record.result.includes(text))
  );
}

/** It has not ended, or nobody has dealt with its failure. */
export function isOpen({ state, isDiscarded }: Searched): boolean {
  return !isTerminal(state) || (isDead(state) && !isDiscarded);
}

export function hasTags(record: Pick<Searched, 'tags'>, wanted: Tags): boolean {
  const tags = parseTags(record.tags);
  return Object.entries(wanted).every(([name, value]) => {
    return Object.hasOwn(tags, name) && tags[name] === value;
  });
}

/** States that share a name count as the first of them. */
export function stateNumber(name: string): number {
  return (TASK_STATES as readonly string[]).indexOf(name);
}
