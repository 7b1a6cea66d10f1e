import { NO_SLOT, type Slot } from './ids.ts';
import { namespaceOf, taskTypeOf } from './queue-key.ts';
import type { Archive } from './snapshot-archive.ts';
import { type ListLinks, persistLists, TaskList } from './task-list.ts';
import { PRIORITY_LEVELS } from './task-state.ts';

/**
 * The ready tasks of one type: a first-in-first-out list per priority level.
 *
 * Q1 Bit n of `levels` is set exactly when the list of level n is not empty.
 */
export class ReadyQueue {
  /** Place of this queue in the state's list of queues; tasks refer to it. */
  readonly index: number;
  readonly key: string;
  readonly namespace: string;
  readonly taskType: string;
  /** Its tasks stay where they are and go to nobody. */
  paused = false;
  levels = 0;
  depth = 0;
  private readonly lists: readonly TaskList[];

  constructor(index: number, key: string, links: ListLinks) {
    this.index = index;
    this.key = key;
    this.namespace = namespaceOf(key);
    this.taskType = taskTypeOf(key);
    this.lists = Array.from({ length: PRIORITY_LEVELS }, () => new TaskList(links));
  }

  append(slot: Slot, level: number): void {
    this.lists[level].append(slot);
    this.levels |= 1 << level;
    this.depth += 1;
  }

  prepend(slot: Slot, level: number): void {
    this.lists[level].prepend(slot);
    this.levels |= 1 << level;
    this.depth += 1;
  }

  remove(slot: Slot, level: number): void {
    const list = this.lists[level];
    list.remove(slot);
    if (list.length === 0) this.levels &= ~(1 << level);
    this.depth -= 1;
  }

  /** The highest level that has a task; -1 when the queue is empty. */
  topLevel(): number {
    return 31 - Math.clz32(this.levels);
  }

  /** The oldest task of the highest level; `NO_SLOT` when the queue is empty. */
  first(): Slot {
    const level = this.topLevel();
    return level < 0 ? NO_SLOT : this.lists[level].head;
  }

  depthOf(level: number): number {
    return this.lists[level].length;
  }

  /** All queues at once, which are there already when they are loaded. */
  static persist(archive: Archive, queues: readonly ReadyQueue[]): void {
    const paused = archive.numbers(
      'paused',
      queues.map((queue) => (queue.paused ? 1 : 0)),
    );
    queues.forEach((queue, index) => {
      queue.paused = paused[index] === 1;
    });
    persistLists(
      archive,
      'levels',
      queues.flatMap((queue) => queue.lists),
    );
    if (archive.isLoading) for (const queue of queues) queue.count();
  }

  private count(): void {
    this.depth = this.lists.reduce((sum, list) => sum + list.length, 0);
    this.levels = this.lists.reduce(
      (bits, list, level) => (list.length > 0 ? bits | (1 << level) : bits),
      0,
    );
  }
}
