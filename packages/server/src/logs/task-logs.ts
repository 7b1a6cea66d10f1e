import { chmod, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseTaskId } from '@sluice/core';
import { type LineListener, LineListeners } from './line-listeners.ts';
import { type AttemptLines, copyFiles, LogFile, readEntries } from './log-file.ts';
import { list, sweepDays } from './log-sweep.ts';

/** Receives the lines that workers report. */
export interface LogSink {
  /** Resolves when the lines are written; repeats are dropped. */
  append(lines: AttemptLines): Promise<void>;
}

/** The lines of all tasks, wherever they are stored. */
export type TaskLines = Pick<
  TaskLogs,
  'append' | 'readByLease' | 'follow' | 'written' | 'copies' | 'close'
>;

export interface TaskLogsOptions {
  readonly folder: string;
  /** Limit of one attempt; older lines are dropped. */
  readonly attemptBytesMax?: number;
  /** Limit of all logs together; the oldest are dropped, whole days first. */
  readonly totalBytesMax?: number;
  /** Days that were not written to for this long are dropped. */
  readonly ageMs?: number;
}

const DEFAULTS = {
  attemptBytesMax: 1024 * 1024,
  totalBytesMax: 1024 * 1024 * 1024,
  ageMs: Number.POSITIVE_INFINITY,
};

/** Number of attempts whose files are remembered; others are read again. */
const OPEN_MAX = 10_000;

const SWEEP_EVERY_MS = 3_600_000;

/** A sweep runs after this share of the total limit was written. */
const SWEEP_EVERY_PART = 1 / 16;

const LOG_NAME = /^(.*\.(\d+)\.(\d+)\.log)(?:\.older)?$/;

/**
 * The lines that handlers write: one file per lease, in a folder per day. Tasks are durable, but
 * these lines are not: a power cut may take the last of them.
 *
 * task-logs.file-per-lease: Every lease has a separate file. When a finished task is retried, its
 *   attempts count from 1 again, and so do the reports of each. Leases never repeat.
 * - Files are read between writes. If the ring turned over during a read, lines would be lost or
 *   doubled.
 */
export class TaskLogs implements LogSink {
  private readonly options: Required<TaskLogsOptions>;
  /** By path. `last` is the last write, which the next one waits for. */
  private readonly open = new Map<string, { file: LogFile; last: Promise<unknown> }>();
  private readonly listeners = new LineListeners();

  private sweeper: NodeJS.Timeout | undefined;
  /** Bytes written since the last sweep. */
  private unsweptBytes = 0;
  private isSweeping = false;

  constructor(options: TaskLogsOptions) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** Opens the folder, and keeps the total limit from here on. */
  static async open(options: TaskLogsOptions): Promise<TaskLogs> {
    const logs = new TaskLogs(options);
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    // An older server may have made the folder readable for others, and with it everything below.
    await chmod(options.folder, 0o700);
    await logs.sweep();
    logs.sweeper = setInterval(() => logs.sweepBeside(), SWEEP_EVERY_MS);
    return logs;
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  async append(lines: AttemptLines): Promise<void> {
    const { id, attempt, lease, ...entry } = lines;
    const path = join(this.folderOf(id), `${id}.${attempt}.${lease}.log`);
    const known = this.open.get(path) ?? this.opened(path);
    const written = known.last.then(async () => {
      const bytes = await known.file.append(entry);
      if (bytes === 0) return;
      this.listeners.tell(lines);
      this.unsweptBytes += bytes;
      this.sweepIfDue();
    });
    // The caller gets the error of a failed write, and the next write tries again.
    known.last = written.catch(() => undefined);
    await written;
  }

  /** All lines of a task, in the order of its attempts. One file is in memory at a time. */
  async *readByLease(id: string, attempt?: number): AsyncGenerator<AttemptLines[]> {
    // The end of a task may be known before the file with its first lines is there.
    await this.written(id);
    for (const found of await this.filesOf(id)) {
      if (attempt !== undefined && attempt !== found.attempt) continue;
      const entries = await this.betweenWrites(found.path, () => readEntries(found.path));
      yield entries.map((entry) => ({
        id,
        attempt: found.attempt,
        lease: found.lease,
        ...entry,
      }));
    }
  }

  /** Every file, by its path below the folder. The files of one lease are in memory at a time. */
  async *copies(): AsyncGenerator<{ readonly path: string; readonly content: Buffer }> {
    for await (const { place, name } of this.leases()) {
      const path = join(this.options.folder, place, name);
      for (const copy of await this.betweenWrites(path, () => copyFiles(path))) {
        yield { path: `${place}/${copy.name}`, content: copy.content };
      }
    }
  }

  /** All lines of all tasks, lease by lease, the oldest day first. */
  async *readAll(): AsyncGenerator<AttemptLines[]> {
    for await (const { place, name } of this.leases()) {
      const [id, attempt, lease] = name.split('.');
      const path = join(this.options.folder, place, name);
      const entries = await this.betweenWrites(path, () => readEntries(path));
      const rest = { id, attempt: Number(attempt), lease: Number(lease) };
      yield entries.map((entry) => ({ ...rest, ...entry }));
    }
  }

  /** The log name of every lease, and its place below the folder. */
  private async *leases(): AsyncGenerator<{ readonly place: string; readonly name: string }> {
    const { folder } = this.options;
    for (const day of (await list(folder)).sort()) {
      for (const part of await list(join(folder, day))) {
        const names = logNames(await list(join(folder, day, part)));
        for (const name of names) yield { place: `${day}/${part}`, name };
      }
    }
  }

  /** Calls `listener` with new lines from here on. */
  follow(id: string, listener: LineListener): () => void {
    return this.listeners.add(id, listener);
  }

  /** Resolves when all lines received so far for a task are written. */
  async written(id: string): Promise<void> {
    for (const [path, { last }] of this.open) if (basename(path).startsWith(`${id}.`)) await last;
  }

  /** Removes logs that are too old, then the oldest until the rest is within the limit. */
  async sweep(): Promise<void> {
    this.unsweptBytes = 0;
    const { folder, totalBytesMax: bytesMax, ageMs } = this.options;
    const removed = new Set(await sweepDays(folder, { bytesMax, oldest: Date.now() - ageMs }));
    for (const path of this.open.keys()) {
      const isGone = removed.has(path) || removed.has(dirname(dirname(path)));
      // The next writer reads the file and makes the folder again.
      if (isGone) this.open.delete(path);
    }
  }

  private sweepIfDue(): void {
    if (this.unsweptBytes > this.options.totalBytesMax * SWEEP_EVERY_PART) this.sweepBeside();
  }

  /** One sweep at a time. What cannot be removed now is tried again later. */
  private sweepBeside(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    const done = () => {
      this.isSweeping = false;
      // The sweep may have taken a while.
      this.sweepIfDue();
    };
    this.sweep().then(done, done);
  }

  private betweenWrites<T>(path: string, read: () => Promise<T>): Promise<T> {
    const known = this.open.get(path);
    if (known === undefined) return read();
    const reading = known.last.then(read);
    known.last = reading.catch(() => undefined);
    return reading;
  }

  private opened(path: string): { file: LogFile; last: Promise<unknown> } {
    if (this.open.size >= OPEN_MAX) this.open.clear();
    const file = new LogFile(path, this.options.attemptBytesMax);
    const made: Promise<unknown> = mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const opened = { file, last: made };
    this.open.set(path, opened);
    return opened;
  }

  /** In lease order. */
  private async filesOf(id: string): Promise<{ path: string; attempt: number; lease: number }[]> {
    const folder = this.folderOf(id);
    const files = new Map<number, { path: string; attempt: number; lease: number }>();
    for (const name of await list(folder)) {
      // While a ring turns over, its newer file is missing for a moment.
      const found = name.startsWith(`${id}.`) ? LOG_NAME.exec(name) : null;
      if (found === null) continue;
      const [, log, attempt, lease] = found;
      const path = join(folder, log);
      files.set(Number(lease), { path, attempt: Number(attempt), lease: Number(lease) });
    }
    return [...files.values()].sort((a, b) => a.lease - b.lease);
  }

  private folderOf(id: string): string {
    // A day may have millions of tasks, which is too many for one folder. The end of an id counts
    // up.
    return join(this.options.folder, dayOf(id), id.slice(-2));
  }
}

/** The day on which a task was submitted. */
export function dayOf(id: string): string {
  const { submittedAt = 0 } = parseTaskId(id) ?? {};
  return new Date(submittedAt).toISOString().slice(0, 10);
}

/** The log names of leases that have either of their two files. */
function logNames(names: readonly string[]): Set<string> {
  return new Set(names.flatMap((name) => LOG_NAME.exec(name)?.[1] ?? []));
}
