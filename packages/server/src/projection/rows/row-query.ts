import { isDead, isTerminal, namespaceOf, parseTags, TASK_STATES, type Tags } from '@sluice/core';
import type { TaskRecord } from '../records/task-record.ts';

/** A search; all conditions must hold. */
export interface RowQuery {
  readonly namespace: string;
  /** Task numbers below this, newest first. */
  readonly before: number;
  /** Task numbers from this on. */
  readonly from: number;
  readonly limit: number;
  /** Key of a queue. */
  readonly queue?: string;
  /** Name of a state. */
  readonly state?: string;
  readonly tags?: Tags;
  readonly parent?: string;
  /** Only tasks that retention must not remove: open tasks and dead letters. */
  readonly isOpen?: true;
  /** Text in the input, or in the output or error. */
  readonly text?: string;
}

/** Range of submit times: from `since`, before `until`. */
export interface Times {
  readonly since: number;
  readonly until: number;
}

/** The fields of a task that a search checks. */
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

/** Whether a task matches: equivalent to the conditions on rows. */
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

/** The task has not ended, or it is a dead letter that was not discarded. */
export function isOpen({ state, isDiscarded }: Searched): boolean {
  return !isTerminal(state) || (isDead(state) && !isDiscarded);
}

export function hasTags(record: Pick<Searched, 'tags'>, wanted: Tags): boolean {
  const tags = parseTags(record.tags);
  return Object.entries(wanted).every(([name, value]) => {
    return Object.hasOwn(tags, name) && tags[name] === value;
  });
}

/** States with the same name count as the first of them. */
export function stateNumber(name: string): number {
  return (TASK_STATES as readonly string[]).indexOf(name);
}
