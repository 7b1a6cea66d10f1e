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

interface UsedTable {
  /** Slots from here on were never used. */
  readonly used: number;
}

class WatchedTable {
  private readonly what: string;
  private readonly table: UsedTable;
  private readonly columns: ReadonlyMap<string, Column>;
  private readonly batchOf: (slot: number) => number;
  /** Made once: tables are copied before every command of every test. */
  private readonly before: ReadonlyMap<string, Column>;

  constructor(what: string, table: UsedTable, batchOf: (slot: number) => number) {
    this.what = what;
    this.table = table;
    const columns = [...columnsOf(table as unknown as ColumnTable)];
    this.columns = new Map(columns.filter(([name]) => !NOT_SHOWN.test(name)));
    this.before = new Map([...this.columns].map(([name, column]) => [name, column.slice()]));
    this.batchOf = batchOf;
  }

  copy(): void {
    const { used } = this.table;
    for (const [name, column] of this.columns) {
      this.before.get(name)?.set(column.subarray(0, used));
    }
  }

  problems(batch: number): string[] {
    const found: string[] = [];
    for (const [name, column] of this.columns) {
      const slot = this.unmarkedChange(column, this.before.get(name) as Column, batch);
      if (slot >= 0) found.push(`engine.untouched: '${name}' of ${this.what} ${slot} changed`);
    }
    return found;
  }

  private unmarkedChange(column: Column, before: Column, batch: number): number {
    const { used } = this.table;
    for (let slot = 0; slot < used; slot++) {
      if (column[slot] !== before[slot] && this.batchOf(slot) !== batch) return slot;
    }
    return -1;
  }
}
