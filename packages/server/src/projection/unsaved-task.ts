import { isTerminal } from '@sluice/core';
import type { ChangeRecord } from './rows/change-record.ts';
import type { Searched } from './rows/row-query.ts';
import type { AnyRecord } from './rows/stored-row.ts';
import {
  beginRecord,
  firstChange,
  type StepOfRun,
  type Submitted,
  type TaskRecord,
} from './rows/task-record.ts';
import { isRun, type RunRecord, runBytes } from './runs/run-record.ts';

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
 * A task or run with events that its row has not seen.
 *
 * A task with no event after its submit is kept as that event. Most of a backlog is such tasks, and
 * apart from the payload a record is three times as large.
 */
export class UnsavedTask implements Searched {
  readonly number: number;
  readonly since: number;
  readonly sinceAt: number;
  position: number;
  private told: AnyRecord | Submitted;

  private constructor(number: number, told: AnyRecord | Submitted, where: Since) {
    this.number = number;
    this.told = told;
    this.since = where.since;
    this.sinceAt = where.sinceAt;
    this.position = where.position;
  }

  static of(record: AnyRecord, where: Since): UnsavedTask {
    return new UnsavedTask(record.number, record, where);
  }

  static submitted(submitted: Submitted, where: Since): UnsavedTask {
    return new UnsavedTask(submitted.task, submitted, where);
  }

  /** The record, for reading only. */
  get record(): AnyRecord {
    return isSubmitted(this.told) ? beginRecord(this.told, this.sinceAt) : this.told;
  }

  /** The record of a task, for applying the next event; undefined for a run. */
  grow(): TaskRecord | undefined {
    const { record } = this;
    this.told = record;
    return isRun(record) ? undefined : record;
  }

  /** The run; undefined for a task. */
  get run(): RunRecord | undefined {
    const { told } = this;
    return isRun(told) ? told : undefined;
  }

  get hasEnded(): boolean {
    return !isSubmitted(this.told) && isTerminal(this.told.state);
  }

  get lastChange(): ChangeRecord | undefined {
    const { told } = this;
    if (isSubmitted(told)) return firstChange(told, this.sinceAt);
    return isRun(told) ? undefined : told.changes.at(-1);
  }

  /** Its size in memory. */
  get bytes(): number {
    const { told } = this;
    if (isSubmitted(told)) return SUBMITTED_BYTES + told.input.length;
    const inside = isRun(told) ? runBytes(told) : 0;
    return RECORD_BYTES + told.input.length + told.result.length + inside;
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

  /** Absent for a task of no run. */
  get step(): StepOfRun | undefined {
    return 'step' in this.told ? this.told.step : undefined;
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

function isSubmitted(told: AnyRecord | Submitted): told is Submitted {
  return 'taskType' in told;
}
