import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Event,
  EventDecoder,
  FAILED,
  isTerminal,
  readEvents,
  TASK_STATES,
  TIMED_OUT,
} from '@sluice/core';
import { UTF8 } from '../utf8.ts';
import { ChangeRing } from './change-ring.ts';
import {
  DAYS_FOLDER,
  DayFiles,
  type FileNotice,
  type Passed,
  type Retention,
} from './day-files.ts';
import { MarkFile, type ProjectionMark } from './mark-file.ts';
import { isMeant, type RowQuery, type Times } from './row-query.ts';
import { StoredRecords } from './stored-records.ts';
import {
  advanceRecord,
  beginRecord,
  blobsNamedBy,
  type ChangeRecord,
  readmitRecord,
  type TaskRecord,
} from './task-record.ts';

/**
 * A task that has not ended is written after so long, and again when it ended: most end before, and
 * cost one row. Much longer, and a start would have that much of the log to read again.
 */
const OPEN_MS_MAX = 10_000;

/** What open tasks may take in memory; the oldest are written before it is more. */
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** A record in memory beside its payloads, as measured with one attempt. */
const RECORD_BYTES = 1000;

/** So many changes are at hand for those who follow them. */
const CHANGES_AT_HAND = 50_000;

/** So many numbers of dead letters are looked up at once. */
const DEAD_AT_ONCE = 1000;

const EVER: Times = { since: 0, until: Number.POSITIVE_INFINITY };

export interface ProjectedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** Where the rows are; the simulator has files of its own. */
export type RowStore = Pick<
  DayFiles,
  'bytes' | 'newest' | 'write' | 'read' | 'readAhead' | 'find' | 'names' | 'retain' | 'close'
>;

export type MarkStore = Pick<MarkFile, 'read' | 'write' | 'close'>;

interface ProjectorHabits {
  readonly retention: Retention;
  /** A task that has not ended is written after so long; tests wait less. */
  readonly openMsMax?: number | undefined;
}

export interface ProjectorOptions extends ProjectorHabits {
  readonly folder: string;
  readonly notify: (notice: FileNotice) => void;
}

export interface ProjectorParts extends ProjectorHabits {
  readonly files: RowStore;
  readonly markFile: MarkStore;
}

interface Unsaved {
  readonly record: TaskRecord;
  /** Where the first batch of the log begins that its row does not have, and when that was. */
  readonly since: number;
  readonly sinceAt: number;
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
  readonly changes = new ChangeRing(CHANGES_AT_HAND);
  private readonly files: RowStore;
  private readonly retention: Retention;
  private readonly openMsMax: number;
  private readonly markFile: MarkStore;
  private readonly decoder = new EventDecoder();
  /** By their numbers, in the order of `since`. */
  private readonly unsaved = new Map<number, Unsaved>();
  private readonly stored: StoredRecords;
  private taken: ProjectionMark;
  private savedMark: ProjectionMark;
  /** The newest task that has a row since before this start. */
  private readonly newestStored: number;
  /** The last change of a record before an event was applied to it. */
  private unchanged: ChangeRecord | undefined;
  /** The batch whose events are being taken. */
  private batchStart = 0;
  private batchEnd = 0;

  constructor({ files, markFile, retention, openMsMax }: ProjectorParts) {
    this.files = files;
    this.markFile = markFile;
    this.retention = retention;
    this.openMsMax = openMsMax ?? OPEN_MS_MAX;
    this.savedMark = this.markFile.read();
    this.taken = this.savedMark;
    this.newestStored = this.files.newest;
    this.stored = new StoredRecords(this.files);
  }

  static open({ folder, notify, ...habits }: ProjectorOptions): Projector {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const files = new DayFiles(join(folder, DAYS_FOLDER), notify);
    return new Projector({ files, markFile: new MarkFile(folder), ...habits });
  }

  /** What is on the disk, for good. */
  get saved(): ProjectionMark {
    return this.savedMark;
  }

  /** What searches see. */
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
    const visit = (event: Event, time: number, place: number): void => {
      const record = this.apply(event, time);
      const change = record?.changes.at(-1);
      if (record === undefined || change === undefined || change === this.unchanged) return;
      this.changes.add(firstRecord + place, record, change);
    };
    const at = readEvents(bytes, UTF8, visit, this.decoder);
    this.taken = { position: this.batchEnd, at };
    this.changes.reached(this.batchEnd);
  }

  /** The log does not have what comes next: goes on behind what is lost. */
  skipTo(position: number): void {
    this.taken = { position, at: this.taken.at };
  }

  /** Writes what has ended, and of the rest what is too old or too much. */
  save(now: number): void {
    this.write(this.due(now));
  }

  saveAll(): void {
    this.write([...this.unsaved.values()]);
  }

  private write(rows: readonly Unsaved[]): void {
    this.files.write(rows);
    this.stored.forget();
    for (const { record } of rows) this.unsaved.delete(record.number);
    // The oldest of what is left is the first. What has ended is on the disk, whatever else is not.
    const [oldest] = this.unsaved.values();
    this.mark({ position: oldest?.since ?? this.taken.position, at: this.taken.at });
  }

  /** The task with that number, as far as the log was taken. */
  read(number: number): TaskRecord | undefined {
    return (this.unsaved.get(number) ?? this.files.read(number))?.record;
  }

  /**
   * Those that are meant, newest first; rows are read as they are asked for. Says now and then how
   * far it has come.
   */
  *find(query: RowQuery, times: Times): Generator<TaskRecord | Passed> {
    const unsaved = [...this.unsaved.values()].map(({ record }) => record);
    const young = unsaved.filter((record) => isMeant(record, query, times));
    young.sort((a, b) => b.number - a.number);
    let next = 0;
    for (const found of this.files.find(query, times, (number) => this.unsaved.has(number))) {
      const place = 'passed' in found ? found.passed : found.number;
      while (next < young.length && young[next].number >= place) yield young[next++];
      yield found;
    }
    yield* young.slice(next);
  }

  *deadLetters(namespace: string, queue: string | undefined): Generator<TaskRecord> {
    const range = { before: Number.MAX_SAFE_INTEGER, from: 0, limit: DEAD_AT_ONCE };
    const ofQueue = queue === undefined ? {} : { queue };
    for (const state of [FAILED, TIMED_OUT]) {
      const query = { namespace, ...range, ...ofQueue, state: TASK_STATES[state], isOpen: true };
      for (const found of this.find(query as RowQuery, EVER)) if (!('passed' in found)) yield found;
    }
  }

  /** Those of the blobs that a task names. */
  named(blobs: readonly string[]): string[] {
    const unsaved = new Set(
      [...this.unsaved.values()].flatMap(({ record }) => blobsNamedBy(record)),
    );
    return blobs.filter((blob) => unsaved.has(blob) || this.files.names(blob));
  }

  retain(now: number): void {
    this.files.retain(now, this.retention);
  }

  close(): void {
    this.files.close();
    this.markFile.close();
  }

  private due(now: number): Unsaved[] {
    const open = [...this.unsaved.values()].filter(({ record }) => !isTerminal(record.state));
    let bytes = open.reduce((sum, { record }) => sum + bytesOf(record), 0);
    const isDue = ({ record, sinceAt }: Unsaved): boolean => {
      if (isTerminal(record.state)) return true;
      if (bytes <= OPEN_BYTES_MAX && now - sinceAt < this.openMsMax) return false;
      bytes -= bytesOf(record);
      return true;
    };
    return [...this.unsaved.values()].filter(isDue);
  }

  private mark(mark: ProjectionMark): void {
    if (mark.position <= this.savedMark.position) return;
    this.markFile.write(mark);
    this.savedMark = mark;
  }

  /** Answers the record, if it has seen the event now. */
  private apply(event: Event, at: number): TaskRecord | undefined {
    if (event.task === 0 || QUIET.includes(event.type)) return undefined;
    const unsaved = this.unsaved.get(event.task);
    if (unsaved !== undefined) {
      unsaved.position = this.batchEnd;
      return this.advance(unsaved.record, event, at);
    }
    if (event.type === 'task_submitted' && event.task > this.newestStored) {
      return this.add(beginRecord(event, at), at);
    }
    return this.applyToStored(event, at);
  }

  private applyToStored(event: Event, at: number): TaskRecord | undefined {
    const stored = this.stored.take(event.task);
    if (stored !== undefined) {
      if (stored.position > this.batchStart) return undefined;
      return this.advance(this.add(stored.record, at), event, at);
    }
    // Of others the row was removed or lost, and what is left would be no task.
    if (event.type !== 'task_submitted' && event.type !== 'task_readmitted') return undefined;
    return this.add(beginRecord(event, at), at);
  }

  private advance(record: TaskRecord, event: Event, at: number): TaskRecord {
    this.unchanged = record.changes.at(-1);
    if (event.type === 'task_readmitted') readmitRecord(record, event, at);
    else if (event.type !== 'task_submitted') advanceRecord(record, event, at);
    return record;
  }

  private add(record: TaskRecord, sinceAt: number): TaskRecord {
    const since = this.batchStart;
    this.unsaved.set(record.number, { record, since, sinceAt, position: this.batchEnd });
    return record;
  }
}

/** Events that change nothing of what is told of a task. */
const QUIET: readonly string[] = ['dedupe_forgotten', 'task_forgotten', 'state_hashed'];

function bytesOf({ input, result }: TaskRecord): number {
  return RECORD_BYTES + input.length + result.length;
}
