import type { LeaseNumber, Slot, TaskNumber } from '../base/ids.ts';
import { StateHasher } from '../snapshot/state-hash.ts';
import type { Archive } from '../structures/archive.ts';
import { Arena, type CompactionRule } from '../structures/arena.ts';
import { TaskList } from '../structures/task-list.ts';
import { TimingWheel } from '../structures/timing-wheel.ts';
import { AccessKeys, type AccessKeysReader } from './access/access-keys.ts';
import { AuditTrail, type AuditTrailReader } from './access/audit-trail.ts';
import { DeadLetters, type DeadLettersReader } from './dead-letters.ts';
import { type DedupeReader, DedupeTable } from './dedupe-table.ts';
import { LeaseHolders } from './lease-holders.ts';
import { Namespaces, type NamespacesReader } from './namespaces.ts';
import { Outbox, type OutboxReader } from './outbox.ts';
import { runPayloads, schedulePayloads, stepPayloads, taskPayloads } from './payload-columns.ts';
import { QueueTable } from './queue-table.ts';
import type { Quotas } from './quotas.ts';
import type { Lane, ReadyQueue } from './ready-queue.ts';
import { Redrives, type RedrivesReader } from './redrives.ts';
import { Programs, type ProgramsReader } from './runs/programs.ts';
import { Runs, type RunsReader } from './runs/runs.ts';
import { Schedules, type SchedulesReader } from './schedules/schedules.ts';
import { makeSharedTexts, type SharedTextsReader, sharedTextBytes } from './shared-texts.ts';
import { StateChanges } from './state-changes.ts';
import { type TaskReader, TaskTable } from './task-table.ts';
import { TaskTypes, type TaskTypesReader } from './task-types.ts';

export interface PartitionLimits {
  /** Maximum number of tasks in memory, including finished ones. */
  readonly tasksMax: number;
  /** Maximum number of bytes of inputs, outputs and errors in memory. */
  readonly payloadBytesMax: number;
  /** Maximum number of finished tasks kept for reading; the oldest are forgotten first. */
  readonly finishedTasksMax: number;
  /** Maximum number of failed and timed-out tasks kept until they are retried or discarded. */
  readonly deadLettersMax: number;
  /**
   * Limit of callback deliveries. Beyond it, deliveries that were given up are dropped, and new
   * tasks with callbacks are refused.
   */
  readonly callbacksMax: number;
  /** Maximum number of remembered dedupe keys. */
  readonly dedupeKeysMax: number;
  /** A worker with this many unread bytes gets no more tasks until it has caught up. */
  readonly unsentBytesMax: number;
  /** Maximum number of worker sessions, including those that are expected back. */
  readonly sessionsMax: number;
  /** Limits per namespace; without them a namespace may use everything. */
  readonly quotas?: Quotas;
  readonly arenaChunkBytes?: number;
  readonly arenaCompaction?: CompactionRule;
}

/** Maximum number of task types in use: a column names a type in two bytes. */
export const TASK_TYPES_MAX = 65_536;

/** Maximum number of schedules. */
const SCHEDULES_MAX = 1_000_000;

/**
 * The durable state of a partition. Only `apply` writes it.
 *
 * state.one-list: A task is in exactly one list: its lane while queued, its holder's while leased
 *   or running, the dead letters of its queue once it failed or timed out, the finished tasks once
 *   it ended otherwise. A waiting, paused or deferred task is in none, nor is the ended task of a
 *   step: its run keeps it.
 * state.one-timer: A task has a timer exactly when it has a deadline, at the earliest one
 *   (`deadlineOf`).
 */
export class State {
  /** The number of this partition; ids and leases carry it. */
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly tasks: TaskTable;
  readonly payloads: Arena;
  readonly holders: LeaseHolders;
  /** Ended tasks that are not dead letters, oldest end first. */
  readonly finished: TaskList;
  readonly deadLetters: DeadLetters;
  readonly namespaces = new Namespaces();
  readonly queueTable: QueueTable;
  readonly taskTypes = new TaskTypes();
  readonly redrives = new Redrives();
  readonly programs = new Programs();
  readonly runs: Runs;
  readonly schedules: Schedules;
  readonly outbox = new Outbox();
  readonly accessKeys = new AccessKeys();
  readonly audit = new AuditTrail();
  /** Interned texts that many tasks share. */
  readonly texts = makeSharedTexts();
  readonly timers: TimingWheel;
  readonly dedupe: DedupeTable;
  /** What events changed since the last logged hash. */
  readonly changes: StateChanges;
  nextTask = 1 as TaskNumber;
  nextLease = 1 as LeaseNumber;
  /** The order of the next task that goes to the tail of its level, and to the head. */
  nextTailOrder = 1;
  nextHeadOrder = 0;
  /** Time of the newest event; time never runs backwards (L8). */
  now = 0;

  constructor(partition: number, limits: PartitionLimits) {
    this.partition = partition;
    this.limits = limits;
    this.tasks = new TaskTable(limits.tasksMax);
    this.timers = new TimingWheel(limits.tasksMax, {
      dueAt: this.tasks.timerAt,
      order: this.tasks.number,
    });
    this.queueTable = new QueueTable(this.tasks, this.namespaces);
    this.dedupe = new DedupeTable(limits.dedupeKeysMax);
    this.runs = new Runs(limits.tasksMax);
    this.schedules = new Schedules(Math.min(limits.tasksMax, SCHEDULES_MAX));
    const columns = [
      taskPayloads(this.tasks),
      runPayloads(this.runs),
      stepPayloads(this.runs),
      schedulePayloads(this.schedules),
    ];
    this.payloads = new Arena(columns.flat(), {
      chunkBytes: limits.arenaChunkBytes,
      rule: limits.arenaCompaction,
    });
    this.schedules.payloads = this.payloads;
    this.holders = new LeaseHolders({
      next: this.tasks.nextHeld,
      previous: this.tasks.previousHeld,
    });
    this.finished = new TaskList(this.tasks);
    this.changes = new StateChanges(this);
    this.deadLetters = new DeadLetters(this.tasks, {
      next: this.tasks.nextHeld,
      previous: this.tasks.previousHeld,
    });
  }

  persistCounters(archive: Archive): void {
    this.nextTask = archive.number('nextTask', this.nextTask) as TaskNumber;
    this.nextLease = archive.number('nextLease', this.nextLease) as LeaseNumber;
    this.nextTailOrder = archive.number('nextTailOrder', this.nextTailOrder);
    this.nextHeadOrder = archive.number('nextHeadOrder', this.nextHeadOrder);
    this.now = archive.number('now', this.now);
  }

  /** A hash of the counters and of everything that events changed since the last hash (L3). */
  hashChanges(): number {
    const hasher = new StateHasher();
    this.persistCounters(hasher);
    hasher.number('queues', this.queueCount);
    hasher.number('namespaces', this.namespaces.size);
    hasher.number('tasks', this.tasks.count);
    hasher.number('keys', this.dedupe.count);
    hasher.number('timers', this.timers.count);
    hasher.number('finished', this.finished.length);
    hasher.number('deadLetters', this.deadLetters.count);
    hasher.number('redrives', this.redrives.size);
    hasher.number('outbox', this.outbox.digest);
    hasher.number('accessKeys', this.accessKeys.size);
    hasher.number('audit', this.audit.next);
    hasher.number('payloads', this.payloads.liveBytes);
    hasher.number('programs', this.programs.count);
    hasher.number('runs', this.runs.table.count);
    hasher.number('line', this.runs.line.length);
    hasher.number('steps', this.runs.steps.inUse);
    hasher.number('runTimers', this.runs.timers.count);
    hasher.number('stepTimers', this.runs.stepTimers.count);
    hasher.number('schedules', this.schedules.table.count);
    hasher.number('scheduleTimers', this.schedules.timers.count);
    hasher.number('watched', this.schedules.watchedCount);
    hasher.number('backfills', this.schedules.backfills.size);
    this.changes.hash(hasher);
    return hasher.value;
  }

  /** By place; a free place holds a queue that is marked as free. */
  get queues(): readonly ReadyQueue[] {
    return this.queueTable.places;
  }

  /** Queues in use. */
  get queueCount(): number {
    return this.queueTable.size;
  }

  queueOf(key: string): ReadyQueue | undefined {
    return this.queueTable.find(key);
  }

  /** Bytes that are used outside of columns: payloads, shared texts, definitions, deliveries. */
  get heldBytes(): number {
    const { payloads, outbox, programs, runs } = this;
    const ofRuns = runs.correlations.bytes + runs.parentReferences.bytes + programs.bytes;
    return payloads.liveBytes + sharedTextBytes(this.texts) + ofRuns + outbox.bytes;
  }

  typeOf(slot: Slot): string {
    return this.queues[this.tasks.queue[slot]].taskType;
  }
}

/** A lane, as a read-only view for code outside `apply`. */
export type ReadonlyLane = Readonly<Pick<Lane, 'shape' | 'level' | 'place' | 'head' | 'length'>> & {
  readonly queue: ReadonlyQueue;
};

type QueueField =
  | 'index'
  | 'key'
  | 'namespace'
  | 'taskType'
  | 'paused'
  | 'isFree'
  | 'levels'
  | 'depth';

export interface ReadonlyQueue
  extends Readonly<Pick<ReadyQueue, QueueField | 'topLevel' | 'depthOf'>> {
  readonly open: readonly ReadonlyLane[];
  readonly ranks: readonly number[];
  lane(shape: number, level: number): ReadonlyLane | undefined;
}

/** The state as `decide` and views see it. */
export interface ReadonlyState {
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly tasks: TaskReader;
  readonly payloads: Pick<Arena, 'bytesOf' | 'startOf' | 'liveBytes' | 'chunkCount'>;
  readonly holders: Pick<LeaseHolders, 'find' | 'at' | 'holding' | 'forEachHeld'>;
  readonly finished: Readonly<Pick<TaskList, 'head' | 'length'>>;
  readonly namespaces: NamespacesReader;
  /** By place; queues in free places are marked as free. */
  readonly queues: readonly ReadonlyQueue[];
  readonly queueCount: number;
  readonly deadLetters: DeadLettersReader;
  readonly taskTypes: TaskTypesReader;
  readonly redrives: RedrivesReader;
  readonly programs: ProgramsReader;
  readonly runs: RunsReader;
  readonly schedules: SchedulesReader;
  readonly outbox: OutboxReader;
  readonly accessKeys: AccessKeysReader;
  readonly audit: AuditTrailReader;
  readonly texts: SharedTextsReader;
  readonly heldBytes: number;
  readonly timers: Pick<TimingWheel, 'firstDue' | 'earliest' | 'has' | 'count'>;
  readonly dedupe: DedupeReader;
  readonly nextTask: TaskNumber;
  readonly nextLease: LeaseNumber;
  readonly nextTailOrder: number;
  readonly nextHeadOrder: number;
  readonly now: number;
  queueOf(key: string): ReadonlyQueue | undefined;
  typeOf(slot: Slot): string;
}
