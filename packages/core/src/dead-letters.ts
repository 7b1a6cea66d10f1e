import { NO_SLOT, type Slot } from './ids.ts';
import type { Archive } from './snapshot-archive.ts';
import { type ListLinks, persistLists, TaskList } from './task-list.ts';

/** What everybody but `apply` sees. */
export interface DeadLettersReader {
  /** Of all queues. */
  readonly count: number;
  /** How many were dropped because there were too many. */
  readonly dropped: number;
  first(queue: number): Slot;
  countOf(queue: number): number;
  /** Places of the queues that have some, in no particular order. */
  queues(): Iterable<number>;
}

/**
 * Tasks that failed or timed out, by queue, oldest end first. They wait here for somebody to run
 * them again or to discard them.
 */
export class DeadLetters implements DeadLettersReader {
  count = 0;
  dropped = 0;
  private readonly lists = new Map<number, TaskList>();
  private readonly links: ListLinks;

  constructor(links: ListLinks) {
    this.links = links;
  }

  first(queue: number): Slot {
    return this.lists.get(queue)?.head ?? NO_SLOT;
  }

  countOf(queue: number): number {
    return this.lists.get(queue)?.length ?? 0;
  }

  queues(): Iterable<number> {
    return this.lists.keys();
  }

  add(queue: number, slot: Slot): void {
    let list = this.lists.get(queue);
    if (list === undefined) {
      list = new TaskList(this.links);
      this.lists.set(queue, list);
    }
    list.append(slot);
    this.count += 1;
  }

  remove(queue: number, slot: Slot): void {
    const list = this.lists.get(queue);
    if (list === undefined) return;
    list.remove(slot);
    if (list.length === 0) this.lists.delete(queue);
    this.count -= 1;
  }

  persist(archive: Archive): void {
    this.dropped = archive.number('dropped', this.dropped);
    this.count = archive.number('count', this.count);
    for (const queue of archive.numbers('queues', [...this.lists.keys()])) {
      if (archive.isLoading) this.lists.set(queue, new TaskList(this.links));
    }
    persistLists(archive, 'ends', [...this.lists.values()]);
  }
}
