import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Archive } from '../structures/archive.ts';
import { type ListLinks, persistLists, TaskList } from '../structures/task-list.ts';

/** Read-only view for code outside `apply`. */
export interface DeadLettersReader {
  /** Dead letters of all queues. */
  readonly count: number;
  /** How many were dropped because there were too many. */
  readonly dropped: number;
  firstOfQueue(queue: number): Slot;
  countOfQueue(queue: number): number;
  firstOfNamespace(namespace: string): Slot;
  countOfNamespace(namespace: string): number;
  /** Namespaces that have dead letters, in no particular order. */
  namespaces(): Iterable<string>;
}

/** The queue and namespace of a dead letter. */
interface Belonging {
  readonly index: number;
  readonly namespace: string;
}

/**
 * Tasks that failed or timed out, oldest end first. They wait here until they are retried or
 * discarded. Each is in the list of its queue and in the list of its namespace, so that the oldest
 * of either is found at once, however many queues there are.
 */
export class DeadLetters implements DeadLettersReader {
  count = 0;
  dropped = 0;
  private readonly byQueue: Lists<number>;
  private readonly byNamespace: Lists<string>;

  /** `heldLinks` are the links of leased tasks. A dead letter is not leased, so it can use them. */
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

/** Lists that exist only while they are not empty. */
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
