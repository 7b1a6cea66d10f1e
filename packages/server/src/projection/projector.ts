import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Event, EventDecoder, FAILED, readEvents, TASK_STATES, TIMED_OUT } from '@sluice/core';
import { UTF8 } from '../base/utf8.ts';
import { ChangeRing } from './change-ring.ts';
import type { KnownProgram } from './projected-programs.ts';
import { isOfRuns, ProjectedRuns } from './projected-runs.ts';
import type {
  MarkStore,
  ProjectedBatch,
  ProjectorOptions,
  ProjectorParts,
  RowStore,
} from './projector-parts.ts';
import type { ChangeRecord } from './records/change-record.ts';
import {
  advanceRecord,
  beginRecord,
  type Later,
  readmitRecord,
  type TaskRecord,
  withText,
} from './records/task-record.ts';
import { syncFolder } from './rows/database-file.ts';
import { DayFolder } from './rows/day-file.ts';
import { DayFiles, type Passed, type Retention } from './rows/day-files.ts';
import { DAYS_FOLDER } from './rows/day-names.ts';
import type { CountScope } from './rows/dead-letter-count.ts';
import { MarkFile, type ProjectionMark } from './rows/mark-file.ts';
import type { RowQuery, Times } from './rows/row-query.ts';
import { StoredRecords } from './rows/stored-records.ts';
import type { AnyRecord } from './rows/stored-row.ts';
import { isRun, type RunRecord } from './runs/run-record.ts';
import type { FreshTask } from './unsaved/fresh-task.ts';
import { UnsavedSearch } from './unsaved/unsaved-search.ts';
import { type Since, UnsavedTask } from './unsaved/unsaved-task.ts';
import { UnsavedTasks } from './unsaved/unsaved-tasks.ts';

/**
 * An open task is written after this time, and again when it ends. Most tasks end before that and
 * cost one row. With a much longer time, a start would have to read that much more of the log
 * again.
 */
const OPEN_MS_MAX = 10_000;

/** Maximum memory of open tasks; beyond it the oldest are written early. */
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** Number of changes kept for followers. */
const CHANGES_AT_HAND = 50_000;

/** Number of dead letters looked up at once. */
const DEAD_AT_ONCE = 1000;

const EVER: Times = { since: 0, until: Number.POSITIVE_INFINITY };

/**
 * Follows the log and keeps a row per task in database files.
 *
 * - A row has seen the log up to its `position`; earlier records are not applied to it again.
 * - Everything before the saved mark is on the disk. A start continues from there, and nothing is
 *   missing or counted twice. Marks stand between batches.
 * - A row or event that cannot be read or applied is left out and reported, and everything else
 *   continues. No single row or event may end the projection.
 * - Memory holds only what changed since it was last written. Tasks that ended are written by the
 *   next save, others when they are old enough.
 */
export class Projector {
  readonly changes = new ChangeRing(CHANGES_AT_HAND);
  private readonly files: RowStore;
  private readonly retention: Retention;
  private readonly openMsMax: number;
  private readonly markFile: MarkStore;
  private readonly notify: ProjectorParts['notify'];
  private readonly decoder = new EventDecoder();
  readonly unsaved = new UnsavedTasks();
  /** Usual tasks that ended since the last save. */
  private readonly ended = new Set<UnsavedTask>();
  readonly stored: StoredRecords;
  private readonly runs: ProjectedRuns;
  private taken: ProjectionMark;
  private savedMark: ProjectionMark;
  /** Tasks that were submitted before this record are rebuilt, whatever their rows contain. */
  private rebuildTo: number;
  /** The newest task that had a row before this start. */
  private readonly newestStored: number;
  /** The last change of a record before an event was applied to it. */
  private unchanged: ChangeRecord | undefined;
  /** Range of the batch being taken. */
  private batchStart = 0;
  private batchEnd = 0;

  constructor({ files, markFile, retention, openMsMax, notify }: ProjectorParts) {
    this.files = files;
    this.markFile = markFile;
    this.notify = notify;
    this.retention = retention;
    this.openMsMax = openMsMax ?? OPEN_MS_MAX;
    const { rebuildTo, ...mark } = this.markFile.read();
    this.savedMark = mark;
    this.rebuildTo = rebuildTo;
    this.taken = this.savedMark;
    this.newestStored = this.files.newest;
    this.stored = new StoredRecords(this.files);
    this.runs = new ProjectedRuns(this, this.markFile.programs());
  }

  static open({ folder, notify, ...habits }: ProjectorOptions): Projector {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // An older server may have made the folder readable for others.
    chmodSync(folder, 0o700);
    syncFolder(dirname(folder));
    const files = new DayFiles(new DayFolder(join(folder, DAYS_FOLDER)), notify);
    try {
      return new Projector({ files, markFile: new MarkFile(folder, notify), notify, ...habits });
    } catch (cause) {
      files.close();
      throw cause;
    }
  }

  /** Places of the definitions that it knows. */
  get knownPrograms(): number[] {
    return this.runs.programs.places;
  }

  /** How much of the log is durable in rows. */
  get saved(): ProjectionMark {
    return this.savedMark;
  }

  /** How much of the log searches see. */
  get seen(): ProjectionMark {
    return this.taken;
  }

  /** Whether anything is not on the disk yet. */
  get isBehind(): boolean {
    return this.savedMark.position < this.taken.position;
  }

  get bytes(): number {
    return this.files.bytes;
  }

  take({ firstRecord, recordCount, bytes }: ProjectedBatch): void {
    if (firstRecord !== this.taken.position) {
      throw new Error(`record ${firstRecord} comes, and ${this.taken.position} is due`);
    }
    this.batchStart = firstRecord;
    this.batchEnd = firstRecord + recordCount;
    let { at } = this.taken;
    try {
      at = readEvents(bytes, UTF8, this.visit, this.decoder);
    } catch (cause) {
      this.leaveOut(firstRecord, 0, cause);
    }
    this.taken = { position: this.batchEnd, at };
    this.changes.reached(this.batchEnd);
  }

  private readonly visit = (event: Event, time: number, place: number): void => {
    const record = this.batchStart + place;
    try {
      const task = this.apply(event, time);
      const published = this.runs.takePublished();
      if (published !== undefined) this.changes.publish(record, time, published);
      const change = task?.lastChange;
      if (task === undefined || change === undefined || change === this.unchanged) return;
      this.changes.add(record, task, change);
    } catch (cause) {
      this.leaveOut(record, event.task, cause);
    }
  };

  private leaveOut(record: number, task: number, cause: unknown): void {
    if (this.notify === undefined) throw cause;
    this.notify({ type: 'event_left_out', record, task, why: (cause as Error).message });
  }

  /**
   * The log had `tail` records at the start. Changes are followed from there, and tasks submitted
   * from there on are new.
   */
  begin(tail: number, programs: readonly KnownProgram[] = []): void {
    this.changes.begin(tail);
    this.runs.programs.fill(programs);
    this.rebuildTo = Math.min(this.rebuildTo, tail);
  }

  /** The log does not contain the next records: continues after the gap. */
  skipTo(position: number): void {
    this.taken = { position, at: this.taken.at };
  }

  /** Writes tasks that ended. Writes open tasks that are too old, or that take too much memory. */
  save(now: number): void {
    this.write(this.unsaved.due({ until: now - this.openMsMax, bytesMax: OPEN_BYTES_MAX }));
  }

  /** How many tasks `saveEnded` would write. */
  get endedCount(): number {
    return this.ended.size;
  }

  /** Writes usual tasks that ended, and looks at no others. */
  saveEnded(): void {
    // A task may run again before it is written.
    this.write(this.unsaved.portion([...this.ended].filter((task) => task.hasEnded)));
  }

  saveAll(): void {
    this.write(this.unsaved.due({ until: Number.POSITIVE_INFINITY, bytesMax: 0 }));
  }

  private write(portions: Iterable<readonly UnsavedTask[]>): void {
    for (const rows of portions) {
      this.files.write(rows);
      this.stored.forget();
    }
    this.ended.clear();
    this.mark({ position: this.unsaved.since ?? this.taken.position, at: this.taken.at });
  }

  /** The task with that number, as of the log taken so far. */
  read(number: number): TaskRecord | undefined {
    const record = this.recordOf(number);
    return record === undefined || isRun(record) ? undefined : record;
  }

  /** The run with that number, as of the log taken so far. */
  readRun(number: number): RunRecord | undefined {
    const record = this.recordOf(number);
    return record === undefined || !isRun(record) ? undefined : record;
  }

  private recordOf(number: number): AnyRecord | undefined {
    return this.unsaved.read(number) ?? this.files.read(number)?.record;
  }

  /**
   * Matching tasks or runs, newest first; rows are read on demand. From time to time it yields how
   * far it is.
   */
  *find(query: RowQuery, times: Times): Generator<AnyRecord | Passed> {
    const isOld = (number: number): boolean => this.unsaved.has(number);
    const young = new UnsavedSearch(this.unsaved.all(), query, times);
    for (const found of this.files.find(query, times, isOld)) {
      yield* young.downTo('passed' in found ? found.passed : found.number);
      yield found;
    }
    yield* young.downTo(0);
  }

  /** Current dead letters, each once. Between two of them, events may be taken and rows written. */
  *deadLetters({ namespace, queue }: CountScope): Generator<TaskRecord> {
    const range = { before: Number.MAX_SAFE_INTEGER, from: 0, limit: DEAD_AT_ONCE };
    const ofQueue = queue === undefined ? {} : { queue };
    for (const state of [FAILED, TIMED_OUT]) {
      const query = { namespace, ...range, ...ofQueue, state: TASK_STATES[state], isOpen: true };
      let last = Number.POSITIVE_INFINITY;
      for (const found of this.find(query as RowQuery, EVER)) {
        // A row that was written or moved meanwhile is found in both places.
        if ('passed' in found || isRun(found) || found.number >= last) continue;
        last = found.number;
        yield found;
      }
    }
  }

  /** Those of the blobs that tasks name. */
  named(blobs: readonly string[]): string[] {
    const unsaved = this.unsaved.blobs();
    return blobs.filter((blob) => unsaved.has(blob) || this.files.names(blob));
  }

  /** Runs one step of retention. Returns whether there may be more to do. */
  retain(now: number): boolean {
    return this.files.retain(now, this.retention);
  }

  close(): void {
    this.files.close();
    this.markFile.close();
  }

  private mark(mark: ProjectionMark): void {
    if (mark.position <= this.savedMark.position) return;
    const { position } = mark;
    const programs = this.runs.programs.unsavedBefore(position);
    this.markFile.write({ ...mark, rebuildTo: this.rebuildTo }, programs);
    this.runs.programs.saved(position);
    this.savedMark = mark;
  }

  /** Returns the task if the event was applied to it now. */
  private apply(event: Event, at: number): UnsavedTask | FreshTask | undefined {
    if (isOfRuns(event)) return this.runs.apply(event, at);
    if (event.task === 0 || QUIET.includes(event.type)) return undefined;
    const unsaved = this.unsaved.get(event.task);
    if (unsaved !== undefined) {
      unsaved.position = this.batchEnd;
      return this.advance(unsaved, event, at);
    }
    // The log contains everything about the task from its submit on, so a rebuild does not need its
    // row.
    if (event.type === 'task_submitted' && this.isNew(event.task)) {
      return this.unsaved.addSubmitted(event, this.since(at));
    }
    return this.applyToStored(event, at);
  }

  private applyToStored(event: Event, at: number): UnsavedTask | undefined {
    const stored = this.stored.take(event.task);
    if (stored !== undefined) {
      if (stored.position > this.batchStart) return undefined;
      const task = this.add(UnsavedTask.stored(stored.record, this.since(at)));
      return this.advance(task, event, at);
    }
    // The row of any other task was removed or lost, and its remaining events do not make a task.
    if (event.type !== 'task_submitted' && event.type !== 'task_readmitted') return undefined;
    return this.add(UnsavedTask.of(beginRecord(withText(event), at), this.since(at)));
  }

  private advance(task: UnsavedTask, event: Event, at: number): UnsavedTask {
    this.unchanged = undefined;
    if (task.advance(event as Later, at)) {
      if (task.hasEnded) this.ended.add(task);
      return task;
    }
    const record = task.grow();
    if (record === undefined) return task;
    this.unchanged = record.changes.at(-1);
    if (event.type === 'task_readmitted') readmitRecord(record, withText(event), at);
    else if (event.type !== 'task_submitted' && event.type !== 'step_submitted') {
      advanceRecord(record, event, at);
    }
    return task;
  }

  /** Whether no row can have seen the events of this task or run. */
  isNew(number: number): boolean {
    return number > this.newestStored || this.batchStart < this.rebuildTo;
  }

  add(task: UnsavedTask): UnsavedTask {
    return this.unsaved.add(task);
  }

  /** Where the batch being taken is in the log. */
  since(at: number): Since {
    return { since: this.batchStart, sinceAt: at, position: this.batchEnd };
  }
}

/** Events that change nothing that a row shows. */
const QUIET: readonly string[] = ['dedupe_forgotten', 'task_forgotten', 'state_hashed'];
