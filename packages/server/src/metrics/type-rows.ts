import { ATTEMPT_OUTCOMES, type ReadonlyQueue } from '@sluice/core';
import { Histogram } from './histogram.ts';

/** Number of task types with separate rows, so that memory and the page stay bounded. */
export const TYPES_SHOWN = 200;

/** In milliseconds. Coarser than for the whole server, because every type has these buckets. */
const TYPE_BOUNDS_MS: readonly number[] = [
  10, 50, 100, 500, 1000, 5000, 15_000, 60_000, 300_000, 1_800_000, 7_200_000,
];

/** What was counted for one task type. */
export interface TypeRow {
  /** Empty for the row of all types without one. */
  readonly namespace: string;
  readonly type: string;
  /** By index of `ATTEMPT_OUTCOMES`. */
  readonly attempts: Float64Array;
  readonly waitMs: Histogram;
  readonly durationMs: Histogram;
}

/**
 * The rows of task types, and one row for all types that have none.
 *
 * A type gets a row with its first event while there are free ones. After that, only `rank` gives
 * rows to busier types. A row belongs to a type by name, not by the place of its queue: places are
 * reused, and a type whose queue is gone goes on counting when it returns. A new row starts at
 * zero, and what a type counts without a row stays in `other`, so no counter ever decreases.
 */
export class TypeRows {
  readonly other = makeRow('', 'other');
  private readonly byKey = new Map<string, TypeRow>();
  /** By place, the queue that the row in `placed` was looked up for. */
  private readonly queues: ReadonlyQueue[] = [];
  private readonly placed: TypeRow[] = [];

  /** In the order in which they began. */
  get shown(): readonly TypeRow[] {
    return [...this.byKey.values()];
  }

  of(queue: ReadonlyQueue): TypeRow {
    const { index } = queue;
    return this.queues[index] === queue ? this.placed[index] : this.lookUp(queue);
  }

  /**
   * Gives the rows to the types with the most tasks. A type without a row takes over the row of a
   * type that has fewer; one without a queue has fewest.
   */
  rank(queues: Iterable<ReadonlyQueue>, tasksOf: (queue: ReadonlyQueue) => number): void {
    const tasksNow = new Map<string, number>();
    const rivals: ReadonlyQueue[] = [];
    for (const queue of queues) {
      if (this.of(queue) === this.other) rivals.push(queue);
      else tasksNow.set(queue.key, tasksOf(queue));
    }
    if (rivals.length === 0) return;
    rivals.sort((a, b) => tasksOf(b) - tasksOf(a));
    const idleFirst = [...this.byKey.keys()]
      .map((key) => ({ key, tasks: tasksNow.get(key) ?? -1 }))
      .sort((a, b) => a.tasks - b.tasks);
    for (const [nth, { key, tasks }] of idleFirst.entries()) {
      const rival = rivals.at(nth);
      if (rival === undefined || tasksOf(rival) <= tasks) break;
      this.byKey.delete(key);
      this.addRow(rival);
    }
    // Rows changed hands: every queue is looked up again.
    this.queues.length = 0;
    this.placed.length = 0;
  }

  private lookUp(queue: ReadonlyQueue): TypeRow {
    const isFull = this.byKey.size >= TYPES_SHOWN;
    const row = this.byKey.get(queue.key) ?? (isFull ? this.other : this.addRow(queue));
    this.queues[queue.index] = queue;
    this.placed[queue.index] = row;
    return row;
  }

  private addRow({ key, namespace, taskType }: ReadonlyQueue): TypeRow {
    const row = makeRow(namespace, taskType);
    this.byKey.set(key, row);
    return row;
  }
}

function makeRow(namespace: string, type: string): TypeRow {
  return {
    namespace,
    type,
    attempts: new Float64Array(ATTEMPT_OUTCOMES.length),
    waitMs: new Histogram(TYPE_BOUNDS_MS),
    durationMs: new Histogram(TYPE_BOUNDS_MS),
  };
}
