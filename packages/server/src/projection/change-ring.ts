import {
  namespaceOf,
  REASONS,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  taskTypeOf,
} from '@sluice/core';
import { timeText } from '../base/time-text.ts';
import type { ChangeRecord, TaskRecord } from './rows/task-record.ts';

const PARTITION = 0;

/** Which changes are wanted, and from where on. */
export interface ChangeQuery {
  /** The last record that the reader has; what comes behind it is wanted. */
  readonly after: number;
  /** The reader's place is not in this log: what it missed is not known. */
  readonly isLost?: boolean;
  /** Name of the start of the server, for ids. */
  readonly start: string;
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

/** Whose change it is. */
type ChangedTask = Readonly<Pick<TaskRecord, 'number' | 'submittedAt' | 'queue'>>;

/**
 * Columns, because every change of every task comes here: objects that stay for so long would be
 * most of what the garbage collector has to do.
 */
class Columns {
  readonly position: Float64Array;
  readonly number: Float64Array;
  readonly submittedAt: Float64Array;
  readonly at: Float64Array;
  readonly from: Int8Array;
  readonly to: Int8Array;
  readonly reason: Uint8Array;
  readonly attempt: Float64Array;
  readonly queue: string[] = [];

  constructor(size: number) {
    this.position = new Float64Array(size);
    this.number = new Float64Array(size);
    this.submittedAt = new Float64Array(size);
    this.at = new Float64Array(size);
    this.from = new Int8Array(size);
    this.to = new Int8Array(size);
    this.reason = new Uint8Array(size);
    this.attempt = new Float64Array(size);
  }
}

const NO_PLACE = -1;

/** About as many are answered at once; those of one record stay together. */
const EVENTS_AT_ONCE = 1000;

/**
 * The newest changes of tasks, for those who follow them.
 *
 * E1 From `firstComplete` on it has every change of every record; what a reader wants from before
 *    that is told as a gap.
 * E2 The last event of a record has the record's position in its id, and the others have no id: a
 *    reader that was cut off amid a record gets that record again, and misses nothing.
 * E3 A reader whose place is not in this log gets a gap first, and all that is at hand.
 */
export class ChangeRing {
  private readonly columns: Columns;
  private readonly size: number;
  private count = 0;
  /** Where the next one goes. */
  private place = 0;
  private firstComplete = 0;
  /** Of the newest record that was taken, with or without a change. */
  private last = -1;

  constructor(size: number) {
    this.size = size;
    this.columns = new Columns(size);
  }

  /** What is before this record has not been seen whole. */
  begin(position: number): void {
    this.firstComplete = position;
    this.last = Math.max(this.last, position - 1);
  }

  add(position: number, task: ChangedTask, change: ChangeRecord): void {
    if (position < this.firstComplete) return;
    const { columns, place } = this;
    if (this.count === this.size) this.firstComplete = columns.position[place] + 1;
    else this.count += 1;
    columns.position[place] = position;
    columns.number[place] = task.number;
    columns.submittedAt[place] = task.submittedAt;
    columns.queue[place] = task.queue;
    [
      columns.at[place],
      columns.from[place],
      columns.to[place],
      columns.reason[place],
      columns.attempt[place],
    ] = change;
    this.place = (place + 1) % this.size;
  }

  /** Everything before this record was taken. */
  reached(position: number): void {
    this.last = Math.max(this.last, position - 1);
  }

  read(query: ChangeQuery): ChangeEvents {
    const wanted = query.isLost ? 0 : query.after + 1;
    const first = Math.max(wanted, this.firstComplete);
    let text = '';
    if (query.isLost || wanted < first) {
      const id = first === 0 ? undefined : eventId(query.start, first - 1);
      text = frame('gap', { from: wanted, to: first }, id);
    }
    const { position } = this.columns;
    let events = 0;
    let pending = NO_PLACE;
    for (let index = this.indexOf(first); index < this.count; index++) {
      const place = this.placeAt(index);
      const isNewRecord = pending !== NO_PLACE && position[pending] !== position[place];
      if (isNewRecord && events >= EVENTS_AT_ONCE) break;
      if (!this.isWanted(place, query)) continue;
      if (pending !== NO_PLACE)
        text += this.changeFrame(pending, isNewRecord ? query.start : undefined);
      pending = place;
      events += 1;
    }
    if (pending !== NO_PLACE) text += this.changeFrame(pending, query.start);
    const isMore = events >= EVENTS_AT_ONCE;
    const end = isMore ? position[pending] : this.last;
    return { text, after: Math.max(end, first - 1), isMore };
  }

  /** The place of the first entry of that record or a later one, the oldest being 0. */
  private indexOf(position: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columns.position[this.placeAt(middle)] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where the entry is, the oldest being 0. */
  private placeAt(index: number): number {
    return (this.place - this.count + index + this.size) % this.size;
  }

  private isWanted(place: number, query: ChangeQuery): boolean {
    const number = this.columns.number[place];
    const queue = this.columns.queue[place];
    return (
      (query.task === undefined || query.task === number) &&
      (query.queue === undefined || query.queue === queue) &&
      namespaceOf(queue) === query.namespace
    );
  }

  /** The last one of a record has an id, in which `start` is named. */
  private changeFrame(place: number, start: string | undefined): string {
    const { columns } = this;
    const number = columns.number[place] as TaskNumber;
    const key = { submittedAt: columns.submittedAt[place], partition: PARTITION, number };
    const from = columns.from[place];
    const data = {
      task: taskIdText(key),
      type: taskTypeOf(columns.queue[place]),
      from: from < 0 ? null : TASK_STATES[from],
      to: TASK_STATES[columns.to[place]],
      reason: REASONS[columns.reason[place]],
      attempt: columns.attempt[place],
      at: timeText(columns.at[place]),
    };
    const id = start === undefined ? undefined : eventId(start, columns.position[place]);
    return frame('change', data, id);
  }
}

/** What a reader names to go on behind a record. */
export function eventId(start: string, position: number): string {
  return `${start}-${position}`;
}

function frame(event: string, data: object, id: string | undefined): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}
