import {
  type Event,
  EventDecoder,
  type EventOf,
  parseRunId,
  parseTaskId,
  type RecordWriter,
  readEvents,
} from '@sluice/core';
import { UTF8 } from '../base/utf8.ts';

/** They only name a task or a run: what is shown of it stays. */
const NAMES_ONLY = /^dedupe_|^callback|^delivery|^deliveries_|^schedule/;

/**
 * The newest record that changed what is shown of each task and each run, found out from the events
 * alone. An answer about one of them can have seen no later record.
 */
export class LastTouches {
  private readonly records = new Map<number, number>();
  private readonly runOfTask = new Map<number, number>();
  private readonly parentOfRun = new Map<number, number>();
  /** The child that each step started last, by the number of its run and its reference. */
  private readonly childOfStep = new Map<string, number>();
  private readonly decoder = new EventDecoder();

  /** The newest batch as far as it is written, and the length of the log before it. */
  private batch = { bytes: new Uint8Array(0), length: 0, before: 0 };

  /** After a command that wrote a record; `records` is the length of the log with it. */
  follow({ bytes, length, recordCount }: RecordWriter, records: number): void {
    // A batch is read as a whole. Its memory is not used for the one after it.
    if (recordCount === 1) this.readBatch();
    this.batch = { bytes, length, before: records - recordCount };
  }

  /** 0 when it was not touched in this life of the server; undefined when it is neither. */
  ofId(id: string): number | undefined {
    this.readBatch();
    const key = parseTaskId(id) ?? parseRunId(id);
    return key === undefined ? undefined : (this.records.get(key.number) ?? 0);
  }

  private readBatch(): void {
    const { bytes, length, before } = this.batch;
    const visit = (event: Event, _at: number, place: number) => {
      this.apply(event, before + place + 1);
    };
    readEvents(bytes.subarray(0, length), UTF8, visit, this.decoder);
  }

  private apply(event: Event, record: number): void {
    if (!('task' in event) || NAMES_ONLY.test(event.type)) return;
    const { task } = event;
    if (event.type === 'step_submitted') this.runOfTask.set(task, event.run);
    if (event.type === 'child_started') this.startChild(event);
    if (event.type === 'run_readmitted') this.readmit(event);
    this.records.set(task, record);
    // A task that is forgotten left its run before: at a reset of its step, or with the run.
    const run = event.type === 'task_forgotten' ? undefined : this.runOfTask.get(task);
    if (run !== undefined) this.records.set(run, record);
    const isOfParent = event.type === 'child_started' || event.type === 'run_ended';
    const parent = isOfParent ? this.parentOfRun.get(task) : undefined;
    if (parent !== undefined) this.records.set(parent, record);
  }

  /** A step that was reset starts another child. What the one before does is nothing to its run. */
  private startChild(event: EventOf<'child_started'>): void {
    const step = stepOf(event);
    this.parentOfRun.delete(this.childOfStep.get(step) ?? 0);
    this.childOfStep.set(step, event.task);
    this.parentOfRun.set(event.task, event.parent);
  }

  private readmit(event: EventOf<'run_readmitted'>): void {
    const current = this.childOfStep.get(stepOf(event)) ?? event.task;
    if (current === event.task) this.parentOfRun.set(event.task, event.parent);
  }
}

function stepOf({ parent, reference }: EventOf<'child_started'> | EventOf<'run_readmitted'>) {
  return `${parent} ${reference}`;
}
