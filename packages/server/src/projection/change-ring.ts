import {
  namespaceOf,
  REASONS,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  taskTypeOf,
} from '@sluice/core';
import { timeText } from '../time-text.ts';
import type { ChangeRecord, TaskRecord } from './task-record.ts';

const PARTITION = 0;

/** Which changes are wanted, and from where on. */
export interface ChangeQuery {
  /** The last record that the reader has; what comes behind it is wanted. */
  readonly after: number;
  readonly namespace: string;
  /** Key of a queue. */
  readonly queue?: string;
  /** Number of a task. */
  readonly task?: number;
}

/** Changes as server-sent events, up to a record and none beyond. */
export interface ChangeEvents {
  readonly text: string;
  /** The last record that they are complete for. */
  readonly after: number;
  readonly isMore: boolean;
}

interface Entry {
  readonly position: number;
  readonly number: number;
  readonly submittedAt: number;
  readonly queue: string;
  readonly change: ChangeRecord;
}

/** About as many are answered at once; those of one record stay together. */
const EVENTS_AT_ONCE = 1000;

/**
 * The newest changes of tasks, for those who follow them.
 *
 * E1 From `firstComplete` on it has every change of every record; what a reader wants from before
 *    that is told as a gap.
 * E2 The last event of a record has the record's position as its id and the others have none: who
 *    was cut off in the midst of a record gets that record again, and misses nothing.
 */
export class ChangeRing {
  private readonly entries: Entry[] = [];
  private readonly size: number;
  /** Where the next one goes, once there are enough. */
  private place = 0;
  private firstComplete = 0;
  /** Of the newest record that was taken, with or without a change. */
  private last = -1;

  constructor(size: number) {
    this.size = size;
  }

  /** What is before this record has not been seen whole. */
  begin(position: number): void {
    this.firstComplete = position;
    this.last = Math.max(this.last, position - 1);
  }

  add(position: number, { number, submittedAt, queue }: TaskRecord, change: ChangeRecord): void {
    if (position < this.firstComplete) return;
    const entry = { position, number, submittedAt, queue, change };
    if (this.entries.length < this.size) {
      this.entries.push(entry);
      return;
    }
    this.firstComplete = this.entries[this.place].position + 1;
    this.entries[this.place] = entry;
    this.place = (this.place + 1) % this.size;
  }

  /** Everything before this record was taken. */
  reached(position: number): void {
    this.last = Math.max(this.last, position - 1);
  }

  read(query: ChangeQuery): ChangeEvents {
    const first = Math.max(query.after + 1, this.firstComplete);
    let text = '';
    if (query.after + 1 < this.firstComplete) {
      text = frame('gap', { from: query.after + 1, to: first }, first - 1);
    }
    let events = 0;
    let pending: Entry | undefined;
    for (let index = this.indexOf(first); index < this.entries.length; index++) {
      const entry = this.entryAt(index);
      const isNewRecord = pending !== undefined && pending.position !== entry.position;
      if (isNewRecord && events >= EVENTS_AT_ONCE) break;
      if (!isWanted(entry, query)) continue;
      if (pending !== undefined) text += changeFrame(pending, isNewRecord);
      pending = entry;
      events += 1;
    }
    if (pending !== undefined) text += changeFrame(pending, true);
    const isMore = events >= EVENTS_AT_ONCE;
    const end = isMore ? (pending as Entry).position : this.last;
    return { text, after: Math.max(end, first - 1), isMore };
  }

  /** The place of the first entry of that record or a later one, the oldest being 0. */
  private indexOf(position: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.entryAt(middle).position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private entryAt(index: number): Entry {
    return this.entries[(this.place + index) % this.entries.length];
  }
}

function isWanted({ number, queue }: Entry, query: ChangeQuery): boolean {
  return (
    (query.task === undefined || query.task === number) &&
    (query.queue === undefined || query.queue === queue) &&
    namespaceOf(queue) === query.namespace
  );
}

function changeFrame({ position, number, submittedAt, queue, change }: Entry, isLast: boolean) {
  const [at, from, to, reason, attempt] = change;
  const key = { submittedAt, partition: PARTITION, number: number as TaskNumber };
  const data = {
    task: taskIdText(key),
    type: taskTypeOf(queue),
    from: from < 0 ? null : TASK_STATES[from],
    to: TASK_STATES[to],
    reason: REASONS[reason],
    attempt,
    at: timeText(at),
  };
  return frame('change', data, isLast ? position : undefined);
}

function frame(event: string, data: object, id: number | undefined): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}
