import { isTerminal } from '@sluice/core';
import type { ChangeRecord } from './rows/change-record.ts';
import type { Searched } from './rows/row-query.ts';
import { beginRecord, firstChange, type Submitted, type TaskRecord } from './rows/task-record.ts';

/** Memory of a record without its payloads, measured with one attempt. */
const RECORD_BYTES = 1000;

/** Memory of a submit event without its payload. */
const SUBMITTED_BYTES = 320;

/** Where in the log a task's unsaved events begin, and when. */
export interface Since {
  /** Start of the first batch that the task's row has not seen. */
  readonly since: number;
  readonly sinceAt: number;
  /** How much of the log was seen. */
  readonly position: number;
}

/**
 * A task with events that its row has not seen.
 *
 * A task with no event after its submit is kept as that event. Most of a backlog is such tasks, and
 * apart from the payload a record is three times as large.
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

  /** The record, for reading only. */
  get record(): TaskRecord {
    return isSubmitted(this.told) ? beginRecord(this.told, this.sinceAt) : this.told;
  }

  /** The record, for applying the next event. */
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

  /** Its size in memory. */
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
