import type { Passed } from './rows/day-files.ts';
import { isMeant, type RowQuery, type Times } from './rows/row-query.ts';
import type { TaskRecord } from './rows/task-record.ts';
import type { UnsavedTask } from './unsaved-task.ts';

/** It says how far it has come after so many tasks that nobody looks for. */
const LOOKED_AT_ONCE = 10_000;

/** Looks for tasks in memory, newest first, as they are asked for. */
export class UnsavedSearch {
  /** Oldest first: nearly in the order in which they come, which sorts fast. */
  private readonly tasks: readonly UnsavedTask[];
  private readonly query: RowQuery;
  private readonly times: Times;
  /** How many are left. */
  private left: number;

  constructor(tasks: Iterable<UnsavedTask>, query: RowQuery, times: Times) {
    this.tasks = [...tasks].sort((a, b) => a.number - b.number);
    this.left = this.tasks.length;
    this.query = query;
    this.times = times;
  }

  /** Those with this number or a higher one that did not come before. */
  *downTo(number: number): Generator<TaskRecord | Passed> {
    for (let looked = 1; this.left > 0; looked++) {
      const task = this.tasks[this.left - 1];
      if (task.number < number) return;
      this.left -= 1;
      if (isMeant(task, this.query, this.times)) yield task.record;
      else if (looked % LOOKED_AT_ONCE === 0) yield { passed: task.number };
    }
  }
}
