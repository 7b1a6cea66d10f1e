import {
  namespaceOf,
  REASONS,
  runIdText,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  taskTypeOf,
} from '@sluice/core';
import { timeText } from '../base/time-text.ts';
import type { ChangeRecord } from './records/change-record.ts';
import type { StepOfRun, TaskRecord } from './records/task-record.ts';

const PARTITION = 0;

/** Which changes a reader wants, and from which record. */
export interface ChangeQuery {
  /** The last record that the reader has; changes after it are wanted. */
  readonly after: number;
  /** The reader's place is not in this log, so what it missed is unknown. */
  readonly isLost?: boolean;
  /** Name of the server's start, for ids. */
  readonly start: string;
  readonly namespace: string;
  /** Key of a queue. */
  readonly queue?: string;
  /** Number of a task. */
  readonly task?: number;
  /** Number of a run: changes of the tasks of its steps. */
  readonly run?: number;
}

/** Changes as server-sent events, up to a record and none beyond. */
export interface ChangeEvents {
  readonly text: string;
  /** The last record that the events are complete for. */
  readonly after: number;
  readonly isMore: boolean;
}

/** The task of a change. */
type ChangedTask = Readonly<Pick<TaskRecord, 'number' | 'submittedAt' | 'queue'>> & {
  readonly step?: StepOfRun | undefined;
};

/** An event that a step of a run published, or that the run is late. */
export interface PublishedEvent {
  readonly run: number;
  readonly startedAt: number;
  /** Key of the workflow: its namespace and name. */
  readonly queue: string;
  readonly reference: string;
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
}

/**
 * Columns instead of objects, because every change of every task is stored here. Long-lived objects
 * would be most of the garbage collector's work.
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
  readonly step: (StepOfRun | undefined)[] = [];
  /** Events that steps published; undefined for changes. */
  readonly published: (PublishedEvent | undefined)[] = [];

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

/** Larger payloads of events are not in the stream; and the bound on all of them together. */
const PAYLOAD_CHARACTERS_MAX = 16 * 1024;
const PAYLOADS_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Approximate maximum number of events per answer; events of one record stay together. */
const EVENTS_AT_ONCE = 1000;

/**
 * The newest changes of tasks, for clients that follow them.
 *
 * - From `firstComplete` on it has every change of every record. A reader that wants earlier ones
 *   gets a gap.
 * - The last event of a record has the record's position in its id; the others have no id. A
 *   reader that is cut off in the middle of a record gets that record again, and misses nothing.
 * - A reader whose place is not in this log first gets a gap, then all changes in the ring.
 */
export class ChangeRing {
  private readonly columns: Columns;
  private readonly size: number;
  private count = 0;
  /** Index of the next entry. */
  private place = 0;
  private firstComplete = 0;
  /** Places of published events, oldest first, and the characters of their payloads. */
  private readonly payloads: number[] = [];
  private payloadCharacters = 0;
  /** Position of the newest record taken, with or without a change. */
  private last = -1;

  constructor(size: number) {
    this.size = size;
    this.columns = new Columns(size);
  }

  /** Changes before this record are incomplete. */
  begin(position: number): void {
    this.firstComplete = position;
    this.last = Math.max(this.last, position - 1);
  }

  /** A step published an event. */
  publish(position: number, at: number, event: PublishedEvent): void {
    if (position < this.firstComplete) return;
    const { place } = this;
    const { run, startedAt, queue, reference, payload } = event;
    const step: StepOfRun = [run, startedAt, reference];
    this.add(position, { number: 0, submittedAt: 0, queue, step }, [at, 0, 0, 0, 0, '']);
    const isLarge = payload.length > PAYLOAD_CHARACTERS_MAX;
    this.columns.published[place] = isLarge ? { ...event, payload: '' } : event;
    this.payloads.push(place);
    this.payloadCharacters += isLarge ? 0 : payload.length;
    while (this.payloadCharacters > PAYLOADS_CHARACTERS_MAX) this.dropPayload();
  }

  /** The oldest payload goes: the event stays. */
  private dropPayload(): void {
    const place = this.payloads.shift() ?? NO_PLACE;
    const event = this.columns.published[place];
    if (event === undefined) return;
    this.payloadCharacters -= event.payload.length;
    this.columns.published[place] = { ...event, payload: '' };
  }

  add(position: number, task: ChangedTask, change: ChangeRecord): void {
    if (position < this.firstComplete) return;
    this.forgetEvent(this.place);
    const { columns, place } = this;
    if (this.count === this.size) this.firstComplete = columns.position[place] + 1;
    else this.count += 1;
    columns.position[place] = position;
    columns.number[place] = task.number;
    columns.submittedAt[place] = task.submittedAt;
    columns.queue[place] = task.queue;
    columns.step[place] = task.step;
    [
      columns.at[place],
      columns.from[place],
      columns.to[place],
      columns.reason[place],
      columns.attempt[place],
    ] = change;
    this.place = (place + 1) % this.size;
  }

  /** Another entry takes the place. */
  private forgetEvent(place: number): void {
    const event = this.columns.published[place];
    if (event === undefined) return;
    this.payloadCharacters -= event.payload.length;
    this.columns.published[place] = undefined;
    this.payloads.splice(this.payloads.indexOf(place), 1);
  }

  /** Every record before this position was taken. */
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

  /** Index of the first entry of that record or a later one; the oldest entry has index 0. */
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

  /** Place of the entry with this index; the oldest entry has index 0. */
  private placeAt(index: number): number {
    return (this.place - this.count + index + this.size) % this.size;
  }

  private isWanted(place: number, query: ChangeQuery): boolean {
    const number = this.columns.number[place];
    const isEvent = this.columns.published[place] !== undefined;
    if (isEvent && (query.task !== undefined || query.queue !== undefined)) return false;
    const queue = this.columns.queue[place];
    return (
      (query.task === undefined || query.task === number) &&
      (query.queue === undefined || query.queue === queue) &&
      (query.run === undefined || query.run === this.columns.step[place]?.[0]) &&
      namespaceOf(queue) === query.namespace
    );
  }

  /** The last change of a record gets an id, made with `start`. */
  private changeFrame(place: number, start: string | undefined): string {
    const { columns } = this;
    const id = start === undefined ? undefined : eventId(start, columns.position[place]);
    const published = columns.published[place];
    if (published !== undefined) return frame('published', shown(published, columns.at[place]), id);
    const number = columns.number[place] as TaskNumber;
    const key = { submittedAt: columns.submittedAt[place], partition: PARTITION, number };
    const from = columns.from[place];
    const data = {
      task: taskIdText(key),
      type: taskTypeOf(columns.queue[place]),
      ...runOf(columns.step[place]),
      from: from < 0 ? null : TASK_STATES[from],
      to: TASK_STATES[columns.to[place]],
      reason: REASONS[columns.reason[place]],
      attempt: columns.attempt[place],
      at: timeText(columns.at[place]),
    };
    return frame('change', data, id);
  }
}

function runOf(step: StepOfRun | undefined): { run?: string } {
  if (step === undefined) return {};
  const [run, submittedAt] = step;
  return { run: runIdText({ submittedAt, partition: PARTITION, number: run as TaskNumber }) };
}

function shown({ run, startedAt, queue, reference, name, payload }: PublishedEvent, at: number) {
  return {
    event: name,
    ...runOf([run, startedAt, reference]),
    workflow: taskTypeOf(queue),
    step: reference === '' ? null : reference,
    payload: payload === '' ? null : (JSON.parse(payload) as unknown),
    at: timeText(at),
  };
}

/** The id that a reader sends to continue after a record. */
export function eventId(start: string, position: number): string {
  return `${start}-${position}`;
}

function frame(event: string, data: object, id: string | undefined): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}
