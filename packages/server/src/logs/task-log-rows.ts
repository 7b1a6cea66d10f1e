import type { LineRows } from '@sluice/postgres';
import { type LineListener, LineListeners } from './line-listeners.ts';
import type { AttemptLines } from './log-file.ts';
import { dayOf, type TaskLines } from './task-logs.ts';

const SWEEP_EVERY_MS = 3_600_000;

export interface TaskLogRowsOptions {
  readonly rows: LineRows;
  /** Days before this long ago are dropped. */
  readonly ageMs: number;
}

/** The lines of handlers in a database, as `TaskLogs` keeps them in files. */
export class TaskLogRows implements TaskLines {
  private readonly rows: LineRows;
  private readonly ageMs: number;
  private readonly listeners = new LineListeners();
  /** The last write of a task, which the next one waits for: lines stay in order. */
  private readonly last = new Map<string, Promise<unknown>>();
  private sweeper: NodeJS.Timeout | undefined;

  private constructor({ rows, ageMs }: TaskLogRowsOptions) {
    this.rows = rows;
    this.ageMs = ageMs;
  }

  static async open(options: TaskLogRowsOptions): Promise<TaskLogRows> {
    const logs = new TaskLogRows(options);
    // What cannot be removed now is tried again later, and nobody waits for it.
    const sweep = () => void logs.sweep().catch(() => undefined);
    sweep();
    logs.sweeper = setInterval(sweep, SWEEP_EVERY_MS);
    return logs;
  }

  close(): void {
    clearInterval(this.sweeper);
    // Lines that are still under way are written; nothing waits for them.
    void this.rows.close().catch(() => undefined);
  }

  async append(lines: AttemptLines): Promise<void> {
    const { id, ...entry } = lines;
    const written = (this.last.get(id) ?? Promise.resolve()).then(async () => {
      const isNew = await this.rows.append({ ...entry, task: id, day: dayOf(id) });
      if (isNew) this.listeners.tell(lines);
    });
    // The caller gets the error of a failed write, and the next write tries again.
    const settled = written.catch(() => undefined);
    this.last.set(id, settled);
    void settled.then(() => {
      if (this.last.get(id) === settled) this.last.delete(id);
    });
    await written;
  }

  async *readByLease(id: string, attempt?: number): AsyncGenerator<AttemptLines[]> {
    await this.written(id);
    const byLease = new Map<number, AttemptLines[]>();
    for (const entry of await this.rows.read(dayOf(id), id)) {
      if (attempt !== undefined && attempt !== entry.attempt) continue;
      const known = byLease.get(entry.lease) ?? [];
      byLease.set(entry.lease, known);
      known.push({ id, ...entry });
    }
    yield* byLease.values();
  }

  /** The database has its own backups. */
  async *copies(): AsyncGenerator<never> {}

  follow(id: string, listener: LineListener): () => void {
    return this.listeners.add(id, listener);
  }

  async written(id: string): Promise<void> {
    await this.last.get(id);
  }

  private sweep(): Promise<void> {
    const oldest = Math.max(0, Date.now() - this.ageMs);
    return this.rows.sweep(new Date(oldest).toISOString().slice(0, 10));
  }
}
