import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseTaskId } from '@sluice/core';
import { type LogEntry, LogFile, readEntries } from './log-file.ts';

/** Lines that handlers wrote about one attempt. */
export interface AttemptLines extends LogEntry {
  readonly id: string;
  readonly attempt: number;
}

/** Where lines go that workers report. */
export interface LogSink {
  /** Resolves when they are kept; resends are dropped. */
  append(lines: AttemptLines): Promise<void>;
}

export interface TaskLogsOptions {
  readonly folder: string;
  /** Of one attempt; what is older is dropped. */
  readonly attemptBytesMax?: number;
  /** Of all together; whole days are dropped, the oldest first. */
  readonly totalBytesMax?: number;
}

const DEFAULTS = { attemptBytesMax: 1024 * 1024, totalBytesMax: 1024 * 1024 * 1024 };

/** Attempts whose files are known; others are looked at again. */
const OPEN_MAX = 10_000;

const SWEEP_EVERY_MS = 3_600_000;

type Listener = (lines: AttemptLines) => void;

/**
 * The lines that handlers write, in files of their own, one per attempt, in a folder per day. They
 * are no part of what is promised about tasks: a power cut may take the last of them.
 */
export class TaskLogs implements LogSink {
  private readonly options: Required<TaskLogsOptions>;
  /** By path. The promise is that of the last write, which the next one waits for. */
  private readonly open = new Map<string, { file: LogFile; last: Promise<unknown> }>();
  private readonly listeners = new Map<string, Set<Listener>>();

  private sweeper: NodeJS.Timeout | undefined;

  constructor(options: TaskLogsOptions) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** Keeps the bound on all of them from here on. */
  static async open(options: TaskLogsOptions): Promise<TaskLogs> {
    const logs = new TaskLogs(options);
    await logs.sweep();
    // What cannot be removed now is tried again in an hour.
    logs.sweeper = setInterval(() => void logs.sweep().catch(() => undefined), SWEEP_EVERY_MS);
    return logs;
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  async append(lines: AttemptLines): Promise<void> {
    const { id, attempt, ...entry } = lines;
    const path = this.pathOf(id, attempt);
    const known = this.open.get(path) ?? this.opened(path);
    const written = known.last.then(async () => {
      const isNew = await known.file.append(entry);
      if (isNew) for (const listener of this.listeners.get(id) ?? []) listener(lines);
    });
    // A write that failed says so to whoever asked for it, and the next one tries again.
    known.last = written.catch(() => undefined);
    await written;
  }

  /** All that is kept of a task, attempt by attempt. */
  async read(id: string, attempt?: number): Promise<AttemptLines[]> {
    const attempts = attempt === undefined ? await this.attemptsOf(id) : [attempt];
    const found = await Promise.all(
      attempts.map(async (each) => {
        const entries = await readEntries(this.pathOf(id, each));
        return entries.map((entry) => ({ id, attempt: each, ...entry }));
      }),
    );
    return found.flat();
  }

  /** Hears what is written from here on. */
  follow(id: string, listener: Listener): () => void {
    const known = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, known.add(listener));
    return () => {
      known.delete(listener);
      if (known.size === 0 && this.listeners.get(id) === known) this.listeners.delete(id);
    };
  }

  /** Resolves when all that came so far about a task is written. */
  async written(id: string): Promise<void> {
    for (const [path, { last }] of this.open) if (basename(path).startsWith(`${id}.`)) await last;
  }

  /** Drops the oldest days until the rest is within the bound. The newest day stays. */
  async sweep(): Promise<void> {
    const days = (await list(this.options.folder)).sort();
    const sizes = await Promise.all(days.map((day) => bytesIn(join(this.options.folder, day))));
    let total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    for (const [place, day] of days.slice(0, -1).entries()) {
      if (total <= this.options.totalBytesMax) return;
      await rm(join(this.options.folder, day), { recursive: true, force: true });
      total -= sizes[place];
    }
  }

  private opened(path: string): { file: LogFile; last: Promise<unknown> } {
    if (this.open.size >= OPEN_MAX) this.open.clear();
    const file = new LogFile(path, this.options.attemptBytesMax);
    const opened = { file, last: mkdir(dirname(path), { recursive: true }) as Promise<unknown> };
    this.open.set(path, opened);
    return opened;
  }

  private async attemptsOf(id: string): Promise<number[]> {
    const names = await list(dirname(this.pathOf(id, 1)));
    const attempts = names.flatMap((name) => {
      const [, attempt] = name.startsWith(`${id}.`) ? (/\.(\d+)\.log$/.exec(name) ?? []) : [];
      return attempt === undefined ? [] : [Number(attempt)];
    });
    return attempts.sort((a, b) => a - b);
  }

  private pathOf(id: string, attempt: number): string {
    const { submittedAt = 0 } = parseTaskId(id) ?? {};
    const day = new Date(submittedAt).toISOString().slice(0, 10);
    // A day may have millions of tasks, and a folder should not: the end of an id counts up.
    return join(this.options.folder, day, id.slice(-2), `${id}.${attempt}.log`);
  }
}

/** Nothing when there is no such folder. */
async function list(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
