import type { StateHasher } from '../snapshot/state-hash.ts';
import type { Archive } from '../structures/archive.ts';
import { type ColumnTable, columnsOf } from '../structures/columns.ts';
import type { DedupeTable } from './dedupe-table.ts';
import { payloadColumns } from './payload-columns.ts';
import type { TaskTable } from './task-table.ts';
import { TouchedSlots } from './touched-slots.ts';

/**
 * Tracks what events changed since the last logged hash, so that the next hash covers only that
 * (L3).
 *
 * What is hashed depends only on events. Only `apply` writes columns. Free slots are hashed too:
 * they keep the values of their last task. Two things depend on more than events: places in the
 * arena, which change when it is compacted, and the timing wheel, which changes when it is read.
 * Neither is hashed. Links are hashed: the order in a list is part of the state.
 *
 * Durable, because a snapshot may come between two hashes.
 */
export class StateChanges {
  /** Events since the last hash. */
  events = 0;
  private readonly tasks: TouchedSlots;
  private readonly keys: TouchedSlots;

  constructor(tasks: TaskTable, dedupe: DedupeTable) {
    const references = payloadColumns(tasks).map((each) => each.references);
    this.tasks = new TouchedSlots(tasks.capacity, columnsBut(tasks, references));
    this.keys = new TouchedSlots(dedupe.capacity, columnsBut(dedupe, []));
  }

  noteTask(slot: number): void {
    this.tasks.note(slot);
  }

  noteKey(entry: number): void {
    this.keys.note(entry);
  }

  /** Hashes the current values of everything that was noted. */
  hash(hasher: StateHasher): void {
    this.tasks.hash(hasher);
    this.keys.hash(hasher);
  }

  /** Starts the next hash. */
  clear(): void {
    this.events = 0;
    this.tasks.clear();
    this.keys.clear();
  }

  persist(archive: Archive): void {
    this.events = archive.number('events', this.events);
    this.tasks.persist(archive, 'tasks');
    this.keys.persist(archive, 'keys');
  }
}

function columnsBut(table: ColumnTable, left: readonly unknown[]) {
  return [...columnsOf(table).values()].filter((column) => !left.includes(column));
}
