import {
  DEFAULT_NAMESPACE,
  type Partition,
  PRIORITY_LEVELS,
  queueKey,
  type ReadonlyState,
  type Slot,
  TASK_STATES,
} from '@sluice/core';
import { LIMITS } from '@sluice/protocol/limits';
import { timeProblems } from '@sluice/protocol/task-rules';
import { problemText } from '../../calls/http-answers.ts';
import { errorOf } from '../../calls/sluice-error.ts';
import type { TaskQuery } from '../../operators/operator-port.ts';
import type { QueueView } from '../../operators/operator-types.ts';
import type { Page, PageOptions } from '../../operators/pages.ts';
import { payloadText } from './task-views.ts';

/** A filter as JSON has it: without dates. */
export type Sent<Query extends Times> = Omit<Query, 'since' | 'until'> & {
  readonly since?: string | number;
  readonly until?: string | number;
};

type Times = Pick<TaskQuery, 'since' | 'until'>;

export type SentFilter = Sent<TaskQuery>;

export function sentFilter<Query extends Times>(filter: Query): Sent<Query> {
  return JSON.parse(JSON.stringify(filter)) as Sent<Query>;
}

/** Refuses times that do not exist. The other rules are in the schemas. */
export function checkTimes({ since, until }: Sent<Times>, path: string, what: string): void {
  const details = [
    ...timeProblems(since, `${path}/since`),
    ...timeProblems(until, `${path}/until`),
  ];
  if (details.length === 0) return;
  const message = `${what}: ${problemText(details[0])}`;
  throw errorOf({ status: 400, code: 'invalid_request', message, details });
}

/** The slots of all tasks that match. */
export function matchingSlots(state: ReadonlyState, filter: SentFilter): Slot[] {
  const slots: Slot[] = [];
  for (let slot = 0; slot < state.tasks.used; slot++) {
    if (state.tasks.number[slot] !== 0 && isMeant(state, slot as Slot, filter)) {
      slots.push(slot as Slot);
    }
  }
  return slots;
}

function isMeant(state: ReadonlyState, slot: Slot, filter: SentFilter): boolean {
  const { type, tags = {}, parentId, text } = filter;
  const { tasks, texts } = state;
  const submittedAt = tasks.submittedAt[slot];
  const own = texts.tags.at(tasks.tags[slot]) ?? {};
  return (
    (type === undefined || state.typeOf(slot) === type) &&
    (filter.state === undefined || TASK_STATES[tasks.state[slot]] === filter.state) &&
    (parentId === undefined || texts.parent.at(tasks.parent[slot]) === parentId) &&
    submittedAt >= (timeOf(filter.since) ?? 0) &&
    submittedAt < (timeOf(filter.until) ?? Number.POSITIVE_INFINITY) &&
    Object.entries(tags).every(
      ([name, value]) => Object.hasOwn(own, name) && own[name] === value,
    ) &&
    (text === undefined || hasText(state, slot, text))
  );
}

function hasText(state: ReadonlyState, slot: Slot, text: string): boolean {
  const { input, inputLength, result, resultLength } = state.tasks;
  const texts = [
    payloadText(state, input[slot], inputLength[slot]),
    payloadText(state, result[slot], resultLength[slot]),
  ];
  return texts.some((payload) => payload.includes(text));
}

function timeOf(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Date.parse(value) : value;
}

/** The types that have a queue: those of tasks, and those that the worker runs. */
export function queueTypes(partition: Partition): string[] {
  const known = partition.state.queues.filter(({ isFree }) => !isFree);
  const run = partition.sessions().flatMap(({ types }) => types.map(({ type }) => type));
  return [...new Set([...known.map(({ taskType }) => taskType), ...run])];
}

/** Rates are over real time, of which none passes here. */
export function queueView(partition: Partition, type: string, now: number): QueueView {
  const { state } = partition;
  const queue = state.queueOf(queueKey(DEFAULT_NAMESPACE, type));
  const runs = partition
    .sessions()
    .flatMap(({ types }) => types.filter((run) => run.type === type));
  const since = (queue?.open ?? []).map(({ head }) => state.tasks.dueAt[head]);
  return {
    type,
    paused: queue?.paused ?? false,
    depth: queue?.depth ?? 0,
    depthByPriority: Array.from({ length: PRIORITY_LEVELS }, (_, level) => {
      return queue?.depthOf(level) ?? 0;
    }),
    oldestAgeMs: since.length === 0 ? null : Math.max(0, now - Math.min(...since)),
    leased: runs.reduce((sum, { leased }) => sum + leased, 0),
    deadLetters: queue === undefined ? 0 : state.deadLetters.countOfQueue(queue.index),
    inPerSec: 0,
    outPerSec: 0,
    workers: runs.length,
  };
}

/** An item of a list, with its place in the order of the list. */
export interface Placed<T> {
  readonly place: string;
  show(): T;
}

/** A page of a list. Its cursor is the place of its last item, so that items may come and go. */
export function pageOf<T>(
  all: readonly Placed<T>[],
  { limit = LIMITS.pageDefault, cursor }: PageOptions,
  now: number,
): Page<T> {
  const after = cursor == null ? '' : placeIn(cursor);
  const rest = all
    .filter(({ place }) => place > after)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map((item) => item.show()),
    nextCursor: rest.length > limit && last !== undefined ? cursorOf(last.place) : null,
    asOf: new Date(now).toISOString(),
    lagMs: 0,
  };
}

/** A number as text that sorts like the number. */
export function sortable(value: number): string {
  return `${value}`.padStart(16, '0');
}

/** Places are names of types, or numbers. */
export function cursorOf(place: string): string {
  return Array.from(place, (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

function placeIn(cursor: string): string {
  if (/^(?:[0-9a-f]{2})+$/.test(cursor)) {
    return cursor.replaceAll(/../g, (code) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  const details = [{ path: '/cursor', problem: 'is not the nextCursor of a page' }];
  const message = 'the query string is not valid: /cursor is not the nextCursor of a page';
  throw errorOf({ status: 400, code: 'invalid_request', message, details });
}
