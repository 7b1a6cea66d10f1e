import type { Passed } from '../rows/day-files.ts';
import { isMeant, type RowQuery, type Times } from '../rows/row-query.ts';
import type { AnyRecord } from '../rows/stored-row.ts';
import type { Findable } from './unsaved-tasks.ts';

/** After this many tasks without a match, the search yields how far it is. */
const LOOKED_AT_ONCE = 10_000;

/** Searches the tasks in memory, newest first, on demand. */
export class UnsavedSearch {
  /** Oldest first: nearly the order in which they arrive, which sorts fast. */
  private readonly tasks: readonly Findable[];
  private readonly query: RowQuery;
  private readonly times: Times;
  /** Number of tasks left to search. */
  private left: number;

  constructor(tasks: Iterable<Findable>, query: RowQuery, times: Times) {
    this.tasks = [...tasks].sort((a, b) => a.number - b.number);
    this.left = this.tasks.length;
    this.query = query;
    this.times = times;
  }

  /** Matches with this number or a higher one that were not returned yet. */
  *downTo(number: number): Generator<AnyRecord | Passed> {
    for (let looked = 1; this.left > 0; looked++) {
      const task = this.tasks[this.left - 1];
      if (task.number < number) return;
      this.left -= 1;
      if (isMeant(task, this.query, this.times)) yield task.fullRecord;
      else if (looked % LOOKED_AT_ONCE === 0) yield { passed: task.number };
    }
  }
}
