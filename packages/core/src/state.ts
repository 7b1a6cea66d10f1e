import { Arena, type CompactionRule } from './arena.ts';
import { type DedupeReader, DedupeTable } from './dedupe-table.ts';
import type { LeaseNumber, Slot, TaskNumber } from './ids.ts';
import { Interner } from './interner.ts';
import { LeaseHolders } from './lease-holders.ts';
import { payloadColumns } from './payload-columns.ts';
import { ReadyQueue } from './ready-queue.ts';
import { parseRetry, type ResolvedRetry } from './retry-policy.ts';
import type { Archive } from './snapshot-archive.ts';
import { StateChanges } from './state-changes.ts';
import { StateHasher } from './state-hash.ts';
import { TaskList } from './task-list.ts';
import { type TaskReader, TaskTable } from './task-table.ts';
import { TimingWheel } from './timing-wheel.ts';

export interface PartitionLimits {
  /** Tasks that may be in memory at once, finished ones included. */
  readonly tasksMax: number;
  /** Bytes of inputs, outputs and errors that may be in memory at once. */
  readonly payloadBytesMax: number;
  /** Finished tasks that are kept for reading; the oldest are forgotten first. */
  readonly finishedTasksMax: number;
  /** Dedupe keys that are remembered at once. */
  readonly dedupeKeysMax: number;
  /** A worker that is this far behind in reading gets no more until it has caught up. */
  readonly unsentBytesMax: number;
  /** Worker sessions at once, those that are expected back included. */
  readonly sessionsMax: number;
  readonly arenaChunkBytes?: number;
  readonly arenaCompaction?: CompactionRule;
}

/** Task types are kept for good, so that a column can name one in two bytes. */
export const TASK_TYPES_MAX = 65_536;

/**
 * All that is durable of a partition. Only `apply` writes it.
 *
 * S1 A task is in exactly one place: the timers while it waits, its queue's level while queued, its
 *    holder's list while leased or running, the finished tasks once it ended.
 */
export class State {
  /** The number of this partition; ids and leases carry it. */
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly tasks: TaskTable;
  readonly payloads: Arena;
  readonly holders: LeaseHolders;
  /** Tasks that ended, oldest end first. */
  readonly finished: TaskList;
  readonly queues: ReadyQueue[] = [];
  readonly retries = new Interner(parseRetry);
  readonly timers: TimingWheel;
  readonly dedupe: DedupeTable;
  /** What events changed since the last hash that was logged. */
  readonly changes: StateChanges;
  nextTask = 1 as TaskNumber;
  nextLease = 1 as LeaseNumber;
  /** Time of the newest event; time never runs backwards (L8). */
  now = 0;
  private readonly queueByType = new Map<string, ReadyQueue>();

  constructor(partition: number, limits: PartitionLimits) {
    this.partition = partition;
    this.limits = limits;
    this.tasks = new TaskTable(limits.tasksMax);
    this.timers = new TimingWheel(limits.tasksMax, {
      dueAt: this.tasks.dueAt,
      order: this.tasks.number,
    });
    this.dedupe = new DedupeTable(limits.dedupeKeysMax);
    this.payloads = new Arena(payloadColumns(this.tasks), {
      chunkBytes: limits.arenaChunkBytes,
      rule: limits.arenaCompaction,
    });
    this.holders = new LeaseHolders({
      next: this.tasks.nextHeld,
      previous: this.tasks.previousHeld,
    });
    this.finished = new TaskList(this.tasks);
    this.changes = new StateChanges(this.tasks, this.dedupe);
  }

  persistCounters(archive: Archive): void {
    this.nextTask = archive.number('nextTask', this.nextTask) as TaskNumber;
    this.nextLease = archive.number('nextLease', this.nextLease) as LeaseNumber;
    this.now = archive.number('now', this.now);
  }

  /** A hash of the counters and of all that events changed since the last one (L3). */
  hashChanges(): number {
    const hasher = new StateHasher();
    this.persistCounters(hasher);
    hasher.number('tasks', this.tasks.count);
    hasher.number('keys', this.dedupe.count);
    hasher.number('timers', this.timers.count);
    hasher.number('finished', this.finished.length);
    hasher.number('payloads', this.payloads.liveBytes);
    this.changes.hash(hasher);
    return hasher.value;
  }

  queueOf(type: string): ReadyQueue | undefined {
    return this.queueByType.get(type);
  }

  internQueue(type: string): ReadyQueue {
    const known = this.queueByType.get(type);
    if (known !== undefined) return known;
    const queue = new ReadyQueue(this.queues.length, type, this.tasks);
    this.queues.push(queue);
    this.queueByType.set(type, queue);
    return queue;
  }

  typeOf(slot: Slot): string {
    return this.queues[this.tasks.queue[slot]].type;
  }
}

/** The state as `decide` and views see it. */
export interface ReadonlyState {
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly tasks: TaskReader;
  readonly payloads: Pick<Arena, 'bytesOf' | 'startOf' | 'liveBytes' | 'chunkCount'>;
  readonly holders: Pick<LeaseHolders, 'find' | 'at' | 'holding' | 'forEachHeld'>;
  readonly finished: Readonly<Pick<TaskList, 'head' | 'length'>>;
  readonly queues: readonly Readonly<
    Pick<ReadyQueue, 'index' | 'type' | 'levels' | 'depth' | 'topLevel' | 'first' | 'depthOf'>
  >[];
  readonly retries: Pick<Interner<ResolvedRetry>, 'at' | 'textAt' | 'size'>;
  readonly timers: Pick<TimingWheel, 'firstDue' | 'earliest' | 'has' | 'count'>;
  readonly dedupe: DedupeReader;
  readonly nextTask: TaskNumber;
  readonly nextLease: LeaseNumber;
  readonly now: number;
  queueOf(type: string): ReadonlyState['queues'][number] | undefined;
  typeOf(slot: Slot): string;
}
