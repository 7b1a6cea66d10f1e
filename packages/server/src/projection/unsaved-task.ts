import { isTerminal } from '@sluice/core';
import type { Searched } from './rows/row-query.ts';
import {
  beginRecord,
  type ChangeRecord,
  firstChange,
  type Submitted,
  type TaskRecord,
} from './rows/task-record.ts';

/** A record in memory beside its payloads, as measured with one attempt. */
const RECORD_BYTES = 1000;

/** The same of an event of which no record was made. */
const SUBMITTED_BYTES = 320;

/** Where in the log something was told of a task, and when. */
export interface Since {
  /** Where the first batch of the log begins that the row of the task does not have. */
  readonly since: number;
  readonly sinceAt: number;
  /** How much of the log was seen. */
  readonly position: number;
}

/**
 * A task of which the log has told more than its row has.
 *
 * One that was submitted, and to which nothing has happened since, is kept as its event: that is
 * most of a backlog, and beside its payload a record is three times as large.
 */
export class UnsavedTask implements Searched {
  readonly number: number;
  readonly since: number;
  readonly sinceAt: number;
  position: number;
  private told: TaskRecord | Submitted;

  private constructor(number: number, told: TaskRecord | Submitted, where: Since) {
    this.number = number;
    this.told = told;
    this.since = where.since;
    this.sinceAt = where.sinceAt;
    this.position = where.position;
  }

  static of(record: TaskRecord, where: Since): UnsavedTask {
    return new UnsavedTask(record.number, record, where);
  }

  static submitted(submitted: Submitted, where: Since): UnsavedTask {
    return new UnsavedTask(submitted.task, submitted, where);
  }

  /** What is known of the task, for whoever only looks. */
  get record(): TaskRecord {
    return isSubmitted(this.told) ? beginRecord(this.told, this.sinceAt) : this.told;
  }

  /** The record that takes in what happens next. */
  grow(): TaskRecord {
    this.told = this.record;
    return this.told;
  }

  get hasEnded(): boolean {
    return !isSubmitted(this.told) && isTerminal(this.told.state);
  }

  get lastChange(): ChangeRecord | undefined {
    const { told } = this;
    return isSubmitted(told) ? firstChange(told, this.sinceAt) : told.changes.at(-1);
  }

  /** What it takes of memory. */
  get bytes(): number {
    const { told } = this;
    if (isSubmitted(told)) return SUBMITTED_BYTES + told.input.length;
    return RECORD_BYTES + told.input.length + told.result.length;
  }

  get submittedAt(): number {
    return isSubmitted(this.told) ? this.sinceAt : this.told.submittedAt;
  }

  get queue(): string {
    return isSubmitted(this.told) ? this.told.taskType : this.told.queue;
  }

  get state(): number {
    const { told } = this;
    if (!isSubmitted(told)) return told.state;
    const [, , state] = firstChange(told, this.sinceAt);
    return state;
  }

  get parent(): string {
    return this.told.parent;
  }

  get tags(): string {
    return this.told.tags;
  }

  get input(): string {
    return this.told.input;
  }

  get result(): string {
    return isSubmitted(this.told) ? '' : this.told.result;
  }

  get isDiscarded(): boolean {
    return !isSubmitted(this.told) && this.told.isDiscarded;
  }
}

function isSubmitted(told: TaskRecord | Submitted): told is Submitted {
  return 'taskType' in told;
}
