import { type EventOf, isTerminal } from '@sluice/core';
import type { ChangeRecord } from '../records/change-record.ts';
import type { Later, StepOfRun, TaskRecord } from '../records/task-record.ts';
import { UsualTask } from '../records/usual-task.ts';
import type { Searched } from '../rows/row-query.ts';
import type { AnyRecord, WrittenRecord } from '../rows/stored-row.ts';
import { isRun, type RunRecord, runBytes } from '../runs/run-record.ts';

/** Memory of a record without its payloads, measured with one attempt. */
const RECORD_BYTES = 1000;

/** Memory of a usual task without its payloads. */
const USUAL_BYTES = 320;

/** Where in the log a task's unsaved events begin, and when. */
export interface Since {
  /** Start of the first batch that the task's row has not seen. */
  readonly since: number;
  readonly sinceAt: number;
  /** How much of the log was seen. */
  readonly position: number;
}

/** A task or run with events that its row has not seen. */
export class UnsavedTask implements Searched {
  readonly number: number;
  readonly since: number;
  readonly sinceAt: number;
  position: number;
  private told: WrittenRecord;

  private constructor(told: WrittenRecord, where: Since) {
    this.number = told.number;
    this.told = told;
    this.since = where.since;
    this.sinceAt = where.sinceAt;
    this.position = where.position;
  }

  static of(told: WrittenRecord, where: Since): UnsavedTask {
    return new UnsavedTask(told, where);
  }

  static submitted(event: EventOf<'task_submitted'>, where: Since): UnsavedTask {
    return new UnsavedTask(UsualTask.submitted(event, where.sinceAt), where);
  }

  /** A record that was read from its row. */
  static stored(record: AnyRecord, where: Since): UnsavedTask {
    return new UnsavedTask((isRun(record) ? undefined : UsualTask.of(record)) ?? record, where);
  }

  /** What is written. */
  get record(): WrittenRecord {
    return this.told;
  }

  /** The same as a record, for reading only. */
  get fullRecord(): AnyRecord {
    const { told } = this;
    return told instanceof UsualTask ? told.toRecord() : told;
  }

  /** Applies an event that happens to most tasks. Returns false if it needs the record. */
  advance(event: Later, at: number): boolean {
    const { told } = this;
    return told instanceof UsualTask && told.advance(event, at);
  }

  /** The record of a task, for applying the next event; undefined for a run. */
  grow(): TaskRecord | undefined {
    const record = this.fullRecord;
    this.told = record;
    return isRun(record) ? undefined : record;
  }

  /** The run; undefined for a task. */
  get run(): RunRecord | undefined {
    const { told } = this;
    return isRun(told) ? told : undefined;
  }

  get hasEnded(): boolean {
    return isTerminal(this.told.state);
  }

  get lastChange(): ChangeRecord | undefined {
    const { told } = this;
    if (told instanceof UsualTask) return told.lastChange;
    return isRun(told) ? undefined : told.changes.at(-1);
  }

  /** Its size in memory. */
  get bytes(): number {
    const { told } = this;
    const payloads = told.input.length + told.result.length;
    if (told instanceof UsualTask) return USUAL_BYTES + payloads;
    return RECORD_BYTES + payloads + (isRun(told) ? runBytes(told) : 0);
  }

  get submittedAt(): number {
    return this.told.submittedAt;
  }

  get queue(): string {
    return this.told.queue;
  }

  get state(): number {
    return this.told.state;
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
    return this.told.result;
  }

  get isDiscarded(): boolean {
    return this.told.isDiscarded;
  }
}
