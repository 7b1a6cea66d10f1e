import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Archive } from '../structures/archive.ts';
import { type ListLinks, persistLists, TaskList } from '../structures/task-list.ts';

/** What everybody but `apply` sees. */
export interface DeadLettersReader {
  /** Of all queues. */
  readonly count: number;
  /** How many were dropped because there were too many. */
  readonly dropped: number;
  firstOfQueue(queue: number): Slot;
  countOfQueue(queue: number): number;
  firstOfNamespace(namespace: string): Slot;
  countOfNamespace(namespace: string): number;
  /** Those that have some, in no particular order. */
  namespaces(): Iterable<string>;
}

/** Where a dead letter belongs. */
interface Belonging {
  readonly index: number;
  readonly namespace: string;
}

/**
 * Tasks that failed or timed out, oldest end first. They wait here for somebody to run them again
 * or to discard them. Each stands in the list of its queue and in that of its namespace, so that
 * the oldest of either is found at once, however many queues there are.
 */
export class DeadLetters implements DeadLettersReader {
  count = 0;
  dropped = 0;
  private readonly byQueue: Lists<number>;
  private readonly byNamespace: Lists<string>;

  /** The second links are those of tasks that somebody holds, which a dead one is not. */
  constructor(links: ListLinks, heldLinks: ListLinks) {
    this.byQueue = new Lists(links);
    this.byNamespace = new Lists(heldLinks);
  }

  firstOfQueue(queue: number): Slot {
    return this.byQueue.get(queue)?.head ?? NO_SLOT;
  }

  countOfQueue(queue: number): number {
    return this.byQueue.get(queue)?.length ?? 0;
  }

  firstOfNamespace(namespace: string): Slot {
    return this.byNamespace.get(namespace)?.head ?? NO_SLOT;
  }

  countOfNamespace(namespace: string): number {
    return this.byNamespace.get(namespace)?.length ?? 0;
  }

  namespaces(): Iterable<string> {
    return this.byNamespace.keys();
  }

  add({ index, namespace }: Belonging, slot: Slot): void {
    this.byQueue.append(index, slot);
    this.byNamespace.append(namespace, slot);
    this.count += 1;
  }

  remove({ index, namespace }: Belonging, slot: Slot): void {
    this.byQueue.remove(index, slot);
    this.byNamespace.remove(namespace, slot);
    this.count -= 1;
  }

  persist(archive: Archive): void {
    this.dropped = archive.number('dropped', this.dropped);
    this.count = archive.number('count', this.count);
    const queues = archive.numbers('queues', [...this.byQueue.keys()]);
    this.byQueue.persist(archive, queues, 'endsOfQueues');
    const namespaces = archive.texts('namespaces', [...this.byNamespace.keys()]);
    this.byNamespace.persist(archive, namespaces, 'endsOfNamespaces');
  }
}

/** Lists that are there as long as they hold something. */
class Lists<K> {
  private readonly lists = new Map<K, TaskList>();
  private readonly links: ListLinks;

  constructor(links: ListLinks) {
    this.links = links;
  }

  get(key: K): TaskList | undefined {
    return this.lists.get(key);
  }

  keys(): Iterable<K> {
    return this.lists.keys();
  }

  append(key: K, slot: Slot): void {
    let list = this.lists.get(key);
    if (list === undefined) {
      list = new TaskList(this.links);
      this.lists.set(key, list);
    }
    list.append(slot);
  }

  remove(key: K, slot: Slot): void {
    const list = this.lists.get(key);
    if (list === undefined) return;
    list.remove(slot);
    if (list.length === 0) this.lists.delete(key);
  }

  persist(archive: Archive, keys: readonly K[], name: string): void {
    if (archive.isLoading) for (const key of keys) this.lists.set(key, new TaskList(this.links));
    persistLists(archive, name, [...this.lists.values()]);
  }
}
