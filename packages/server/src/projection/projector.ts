import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Event, EventDecoder, isTerminal, readEvents } from '@sluice/core';
import { UTF8 } from '../utf8.ts';
import type { RowQuery } from './day-file.ts';
import { DayFiles, type FileNotice, type Retention } from './day-files.ts';
import { advanceRecord, beginRecord, readmitRecord, type TaskRecord } from './task-record.ts';

/** A task that has not ended is written when it is this old, and again when it ended. */
const WRITE_AFTER_MS = 2000;

export interface ProjectedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** How far the projection has come. */
export interface ProjectionMark {
  /** The first record that it does not have. */
  readonly position: number;
  /** The time of the last record that it has. */
  readonly at: number;
}

export interface ProjectorOptions {
  readonly folder: string;
  readonly retention: Retention;
  readonly notify: (notice: FileNotice) => void;
}

interface Unsaved {
  readonly record: TaskRecord;
  /** Where the first batch of the log begins that its row does not have. */
  readonly since: number;
  /** How much of the log the record has seen. */
  position: number;
}

/**
 * Follows the log and keeps a row per task in database files.
 *
 * Q1 A row has seen the log up to its `position`; what is before that is not applied to it again.
 * Q2 What is before the saved mark is on the disk: a start goes on from there, and nothing is
 *    missing or counted twice. Marks stand between batches.
 * Q3 Memory holds what changed since it was last written, and no more: tasks that ended go with the
 *    next write, others when they are old enough.
 */
export class Projector {
  private readonly files: DayFiles;
  private readonly retention: Retention;
  private readonly marks: DatabaseSync;
  private readonly decoder = new EventDecoder();
  private readonly unsaved = new Map<number, Unsaved>();
  private taken: ProjectionMark;
  private savedMark: ProjectionMark;
  /** The newest task that has a row since before this start. */
  private readonly newestStored: number;
  /** The batch whose events are being taken. */
  private batchStart = 0;
  private batchEnd = 0;

  constructor({ folder, retention, notify }: ProjectorOptions) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.files = new DayFiles(join(folder, 'days'), notify);
    this.retention = retention;
    this.marks = new DatabaseSync(join(folder, 'mark.sqlite'));
    this.marks.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS mark (id INTEGER PRIMARY KEY, position INTEGER, at INTEGER);
      INSERT OR IGNORE INTO mark VALUES (1, 0, 0);
    `);
    const { position, at } = this.marks.prepare('SELECT position, at FROM mark').get() as {
      position: number;
      at: number;
    };
    this.savedMark = { position, at };
    this.taken = this.savedMark;
    this.newestStored = this.files.newest;
  }

  /** What is on the disk, for good. */
  get saved(): ProjectionMark {
    return this.savedMark;
  }

  /** What searches see. */
  get seen(): ProjectionMark {
    return this.taken;
  }

  /** Whether there is anything that searches do not see. */
  get hasUnsaved(): boolean {
    return this.unsaved.size > 0;
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
    const at = readEvents(bytes, UTF8, (event, time) => this.apply(event, time), this.decoder);
    this.taken = { position: this.batchEnd, at };
  }

  /** The log does not have what comes next: goes on behind what is lost. */
  skipTo(position: number): void {
    this.taken = { position, at: this.taken.at };
  }

  /** Writes what has ended and what is old enough, or everything. */
  save(all: boolean): void {
    const writable = (record: TaskRecord): boolean => {
      return (
        all || isTerminal(record.state) || this.taken.at - record.submittedAt >= WRITE_AFTER_MS
      );
    };
    const rows = [...this.unsaved.values()].filter(({ record }) => writable(record));
    this.files.write(rows);
    for (const { record } of rows) this.unsaved.delete(record.number);
    // Every task that has ended is on the disk by now, whatever else is not.
    let { position, at } = this.taken;
    for (const { since } of this.unsaved.values()) position = Math.min(position, since);
    this.mark({ position, at });
  }

  /** The task with that number, as far as the log was taken. */
  read(number: number): TaskRecord | undefined {
    return (this.unsaved.get(number) ?? this.files.read(number))?.record;
  }

  /** Sees what is written; reads as much as is asked for. */
  *find(
    query: RowQuery,
    times: { readonly since: number; readonly until: number },
  ): Generator<TaskRecord> {
    for (const { record } of this.files.find(query, times)) yield record;
  }

  retain(now: number): void {
    this.files.retain(now, this.retention);
  }

  close(): void {
    this.files.close();
    this.marks.close();
  }

  private mark(mark: ProjectionMark): void {
    if (mark.position <= this.savedMark.position) return;
    this.marks
      .prepare('UPDATE mark SET position = ?, at = ? WHERE id = 1')
      .run(mark.position, mark.at);
    this.savedMark = mark;
  }

  private apply(event: Event, at: number): void {
    if (event.task === 0 || QUIET.includes(event.type)) return;
    const unsaved = this.unsaved.get(event.task);
    if (unsaved !== undefined) {
      take(unsaved.record, event, at);
      unsaved.position = this.batchEnd;
    } else if (event.type === 'task_submitted' && event.task > this.newestStored) {
      this.add(beginRecord(event, at));
    } else {
      this.applyToStored(event, at);
    }
  }

  private applyToStored(event: Event, at: number): void {
    const stored = this.files.read(event.task);
    if (stored !== undefined) {
      if (stored.position > this.batchStart) return;
      take(stored.record, event, at);
      this.add(stored.record);
    } else if (event.type === 'task_submitted' || event.type === 'task_readmitted') {
      // Of others the row was removed or lost, and what is left would be no task.
      this.add(beginRecord(event, at));
    }
  }

  private add(record: TaskRecord): void {
    const since = this.batchStart;
    this.unsaved.set(record.number, { record, since, position: this.batchEnd });
  }
}

/** Events that change nothing of what is told of a task. */
const QUIET: readonly string[] = ['dedupe_forgotten', 'task_forgotten', 'state_hashed'];

function take(record: TaskRecord, event: Event, at: number): void {
  if (event.type === 'task_readmitted') readmitRecord(record, event, at);
  else if (event.type !== 'task_submitted') advanceRecord(record, event, at);
}
