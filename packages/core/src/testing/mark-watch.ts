import type { Slot } from '../base/ids.ts';
import type { Partition } from '../partition.ts';
import { type Column, type ColumnTable, columnsOf } from '../structures/columns.ts';

/** Links change when a neighbour moves, and places in the arena when it is compacted. */
const NOT_SHOWN = /next|previous|Head|Tail|^(input|output|result|variables)$/i;

/** Finds tasks, runs and steps that a command changed without marking them (engine.untouched). */
export class MarkWatch {
  private readonly tables: readonly WatchedTable[];
  private batch = 0;
  private readonly partition: Partition;

  private constructor(partition: Partition) {
    this.partition = partition;
    const { tasks, runs } = partition.state;
    const ofTask = (slot: number) => partition.batchOfTask(slot as Slot);
    const ofRun = (slot: number) => partition.batchOfRun(slot as Slot);
    this.tables = [
      new WatchedTable('task', tasks, ofTask),
      new WatchedTable('run', runs.table, ofRun),
      new WatchedTable('step', runs.steps, (slot) => ofRun(runs.steps.run[slot])),
    ];
  }

  /** Before a command. Goes on with the watch of the command before, if it is of this partition. */
  static begin(partition: Partition, last: MarkWatch | undefined): MarkWatch {
    const watch = last?.partition === partition ? last : new MarkWatch(partition);
    watch.next();
    return watch;
  }

  private next(): void {
    this.batch += 1;
    this.partition.batch = this.batch;
    for (const table of this.tables) table.copy();
  }

  /** After it. */
  problems(): string[] {
    return this.tables.flatMap((table) => table.problems(this.batch));
  }
}

class WatchedTable {
  private readonly what: string;
  private readonly columns: ReadonlyMap<string, Column>;
  private readonly batchOf: (slot: number) => number;
  private before = new Map<string, Column>();

  constructor(what: string, table: object, batchOf: (slot: number) => number) {
    this.what = what;
    const columns = [...columnsOf(table as ColumnTable)];
    this.columns = new Map(columns.filter(([name]) => !NOT_SHOWN.test(name)));
    this.batchOf = batchOf;
  }

  copy(): void {
    this.before = new Map([...this.columns].map(([name, column]) => [name, column.slice()]));
  }

  problems(batch: number): string[] {
    return [...this.columns].flatMap(([name, column]) => {
      const before = this.before.get(name);
      const slot = column.findIndex((value, at) => {
        return value !== before?.[at] && this.batchOf(at) !== batch;
      });
      return slot < 0 ? [] : [`engine.untouched: '${name}' of ${this.what} ${slot} changed`];
    });
  }
}
