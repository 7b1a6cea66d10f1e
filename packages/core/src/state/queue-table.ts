import { namespaceOf } from '../base/queue-key.ts';
import type { Archive } from '../structures/archive.ts';
import type { Namespaces } from './namespaces.ts';
import { type LaneColumns, ReadyQueue } from './ready-queue.ts';

/**
 * The queues, each with a place that tasks name in two bytes.
 *
 * A queue exists while a task or a delivery refers to it, or while it is paused. After that its
 * place is reused, so that task types that come and go leave nothing behind.
 */
export class QueueTable {
  /** Queues by place. A free place keeps its last queue, marked as free. */
  readonly places: ReadyQueue[] = [];
  private readonly byKey = new Map<string, ReadyQueue>();
  private readonly freed: number[] = [];
  private readonly columns: LaneColumns;
  private readonly namespaces: Namespaces;

  constructor(columns: LaneColumns, namespaces: Namespaces) {
    this.columns = columns;
    this.namespaces = namespaces;
  }

  /** Queues in use. */
  get size(): number {
    return this.byKey.size;
  }

  find(key: string): ReadyQueue | undefined {
    return this.byKey.get(key);
  }

  /** The caller must refer to the queue or pause it at once. */
  intern(key: string): ReadyQueue {
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const queue = this.put(this.freed.pop() ?? this.places.length, key);
    queue.use.taskTypes += 1;
    return queue;
  }

  /** Called when a reference to the queue is gone or the queue is no longer paused. */
  forgetIfUnused(queue: ReadyQueue): void {
    if (queue.references > 0 || queue.paused) return;
    queue.isFree = true;
    this.byKey.delete(queue.key);
    this.freed.push(queue.index);
    queue.use.taskTypes -= 1;
    this.namespaces.forgetIfUnused(queue.use);
  }

  persist(archive: Archive): void {
    const keys = archive.texts(
      'keys',
      this.places.map(({ isFree, key }) => (isFree ? '' : key)),
    );
    const references = archive.numbers(
      'references',
      this.places.map((queue) => queue.references),
    );
    const freed = archive.numbers('freed', this.freed);
    if (archive.isLoading) {
      this.freed.push(...freed);
      const isFree = new Set(freed);
      keys.forEach((key, index) => {
        if (isFree.has(index)) this.places[index] = ReadyQueue.free(index, this.columns);
        else this.put(index, key).references = references[index];
      });
    }
    ReadyQueue.persist(archive, this.places);
  }

  private put(index: number, key: string): ReadyQueue {
    const use = this.namespaces.intern(namespaceOf(key));
    const queue = new ReadyQueue({ index, key, use }, this.columns);
    this.places[index] = queue;
    this.byKey.set(key, queue);
    return queue;
  }
}
