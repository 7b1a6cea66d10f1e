import type { EventOf } from '@sluice/core';
import { blobsNamedBy, blobsOfPayloads } from '../rows/named-blobs.ts';
import type { Searched } from '../rows/row-query.ts';
import type { AnyRecord } from '../rows/stored-row.ts';
import type { FreshTask } from './fresh-task.ts';
import { FreshTasks } from './fresh-tasks.ts';
import { type Since, UnsavedTask } from './unsaved-task.ts';

/** What a search looks at, and returns when it matches. */
export interface Findable extends Searched {
  readonly fullRecord: AnyRecord;
}

/** When open tasks are written. */
interface OpenLimits {
  /** Those with events since then stay. */
  readonly until: number;
  /** Maximum memory of those that stay; the oldest are written early. */
  readonly bytesMax: number;
}

/** Every task and run with events that its row has not seen. */
export class UnsavedTasks {
  /** By number, nearly in the order of `since`. */
  private readonly changed = new Map<number, UnsavedTask>();
  private readonly fresh = new FreshTasks();

  has(number: number): boolean {
    return this.changed.has(number) || this.fresh.has(number);
  }

  /** The task or run, which an event is about. */
  get(number: number): UnsavedTask | undefined {
    const changed = this.changed.get(number);
    if (changed !== undefined) return changed;
    const fresh = this.fresh.take(number);
    return fresh === undefined ? undefined : this.add(fresh);
  }

  /** The record of a task or run, for reading only. */
  read(number: number): AnyRecord | undefined {
    return (this.changed.get(number) ?? this.fresh.read(number))?.fullRecord;
  }

  add(task: UnsavedTask): UnsavedTask {
    this.changed.set(task.number, task);
    return task;
  }

  addSubmitted(event: EventOf<'task_submitted'>, where: Since): UnsavedTask | FreshTask {
    return this.fresh.add(event, where) ?? this.add(UnsavedTask.submitted(event, where));
  }

  *all(): Generator<Findable> {
    yield* this.fresh.views();
    yield* this.changed.values();
  }

  /** The blobs that they name. */
  blobs(): Set<string> {
    const names = new Set<string>();
    const note = (name: string): unknown => names.add(name);
    for (const task of this.fresh.views()) blobsOfPayloads(task).forEach(note);
    for (const { record } of this.changed.values()) blobsNamedBy(record).forEach(note);
    return names;
  }

  /**
   * Tasks that ended, and open tasks beyond the limits, in portions. Each portion is forgotten when
   * the next one is asked for.
   */
  *due({ until, bytesMax }: OpenLimits): Generator<readonly UnsavedTask[]> {
    const due: UnsavedTask[] = [];
    let bytes = 0;
    for (const task of this.changed.values()) {
      if (task.hasEnded || task.sinceAt <= until) due.push(task);
      else bytes += task.bytes;
    }
    yield* this.portion(due);
    yield* this.fresh.due(until, Math.max(bytesMax - bytes, 0));
    if (bytes > bytesMax) yield* this.portion(this.oldest(bytes - bytesMax));
  }

  private oldest(bytes: number): UnsavedTask[] {
    const oldest: UnsavedTask[] = [];
    let left = bytes;
    for (const task of this.changed.values()) {
      if (left <= 0) break;
      left -= task.bytes;
      oldest.push(task);
    }
    return oldest;
  }

  *portion(tasks: readonly UnsavedTask[]): Generator<readonly UnsavedTask[]> {
    if (tasks.length === 0) return;
    yield tasks;
    for (const { number } of tasks) this.changed.delete(number);
  }

  /** The record from which on the log is needed; undefined when all are written. */
  get since(): number | undefined {
    let since = this.fresh.oldest ?? Number.POSITIVE_INFINITY;
    for (const task of this.changed.values()) since = Math.min(since, task.since);
    return Number.isFinite(since) ? since : undefined;
  }
}
