import type { Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import { namespaceOf, taskTypeOf } from '../base/queue-key.ts';
import type { Archive } from '../structures/archive.ts';
import { type ListLinks, TaskList } from '../structures/task-list.ts';
import { PRIORITY_LEVELS } from '../task/task-state.ts';
import { type MutableUse, unused } from './namespaces.ts';

/** Index of the shape that needs a single slot and nothing else; nearly all tasks have it. */
const PLAIN_SHAPE = 0;

/** Numbers per lane in a snapshot. */
const LANE_NUMBERS = 6;

/** Larger than the absolute value of any order. */
const ORDERS = 2 ** 48;

/** The ready task with the smallest rank goes first. Levels are compared first, then orders. */
export function rankOf(level: number, order: number): number {
  return (PRIORITY_LEVELS - level) * ORDERS + order;
}

/** The columns that the lanes use. */
export interface LaneColumns extends ListLinks {
  readonly order: Float64Array;
}

interface QueueIdentity {
  readonly index: number;
  readonly key: string;
  readonly use: MutableUse;
}

/** The ready tasks of one type, shape and level, first in, first out. */
export class Lane extends TaskList {
  readonly queue: ReadyQueue;
  readonly shape: number;
  readonly level: number;
  /** Index among the open lanes of its queue; -1 while the lane is empty. */
  place = -1;

  constructor(queue: ReadyQueue, columns: LaneColumns, kind: { shape: number; level: number }) {
    super(columns);
    this.queue = queue;
    this.shape = kind.shape;
    this.level = kind.level;
  }
}

/**
 * The ready tasks of one type: a lane per shape and priority level, so that a task that fits
 * nowhere never blocks one that does.
 *
 * queue.open-lanes: `open` holds exactly the lanes that are not empty, and bit n of `levels` is set
 *   exactly when one of them is of level n. `ranks` runs parallel to `open`.
 * queue.no-empty-lane: A lane of a shape exists while it holds a task: shapes that come and go
 *   leave nothing behind.
 */
export class ReadyQueue {
  /** Place of this queue in the state's list of queues; tasks refer to it. */
  readonly index: number;
  readonly key: string;
  readonly namespace: string;
  readonly taskType: string;
  /** The use of its namespace. */
  readonly use: MutableUse;
  /** Number of tasks and deliveries that name it. */
  references = 0;
  /** True when nothing refers to it and its place may be reused. */
  isFree = false;
  /** While true, its tasks stay in the queue and get no lease. */
  paused = false;
  levels = 0;
  depth = 0;
  /** In no particular order; `ranks` decides which lane goes first. */
  readonly open: Lane[] = [];
  /**
   * Ranks of the heads of `open`, in one array: every search for a task reads the rank of every
   * lane.
   */
  readonly ranks: number[] = [];
  private readonly columns: LaneColumns;
  private readonly plain: readonly Lane[];
  /** Lanes of all other shapes, by shape and level. */
  private readonly shaped = new Map<number, Lane>();
  /** Number of open lanes at each level. */
  private readonly openAt = new Uint32Array(PRIORITY_LEVELS);

  constructor({ index, key, use }: QueueIdentity, columns: LaneColumns) {
    this.index = index;
    this.key = key;
    this.use = use;
    this.namespace = namespaceOf(key);
    this.taskType = taskTypeOf(key);
    this.columns = columns;
    this.plain = Array.from(
      { length: PRIORITY_LEVELS },
      (_, level) => new Lane(this, columns, { shape: PLAIN_SHAPE, level }),
    );
  }

  /** A placeholder in a free place until a new queue takes it. */
  static free(index: number, columns: LaneColumns): ReadyQueue {
    const queue = new ReadyQueue({ index, key: '', use: unused('', -1) }, columns);
    queue.isFree = true;
    return queue;
  }

  append(slot: Slot, shape: number, level: number): void {
    const lane = this.laneFor(shape, level);
    lane.append(slot);
    this.depth += 1;
    if (lane.length > 1) return;
    this.opened(lane);
    this.rank(lane);
  }

  prepend(slot: Slot, shape: number, level: number): void {
    const lane = this.laneFor(shape, level);
    lane.prepend(slot);
    this.depth += 1;
    if (lane.length === 1) this.opened(lane);
    this.rank(lane);
  }

  remove(slot: Slot, shape: number, level: number): void {
    const lane = this.lane(shape, level);
    invariant(lane !== undefined, 'a ready task stands in the lane of its shape and level');
    lane.remove(slot);
    this.depth -= 1;
    if (lane.length === 0) this.closed(lane);
    else this.rank(lane);
  }

  /** `undefined` when no task of this shape waits at this level. */
  lane(shape: number, level: number): Lane | undefined {
    if (shape === PLAIN_SHAPE) return this.plain[level];
    return this.shaped.get(shape * PRIORITY_LEVELS + level);
  }

  /** The highest level that has a task; -1 when the queue is empty. */
  topLevel(): number {
    return 31 - Math.clz32(this.levels);
  }

  depthOf(level: number): number {
    let depth = 0;
    for (const lane of this.open) if (lane.level === level) depth += lane.length;
    return depth;
  }

  private rank(lane: Lane): void {
    this.ranks[lane.place] = rankOf(lane.level, this.columns.order[lane.head]);
  }

  private laneFor(shape: number, level: number): Lane {
    const known = this.lane(shape, level);
    if (known !== undefined) return known;
    const lane = new Lane(this, this.columns, { shape, level });
    this.shaped.set(shape * PRIORITY_LEVELS + level, lane);
    return lane;
  }

  private opened(lane: Lane): void {
    lane.place = this.open.length;
    this.open.push(lane);
    this.ranks.push(0);
    this.openAt[lane.level] += 1;
    this.levels |= 1 << lane.level;
  }

  /** The last open lane moves to the place of the one that closes. */
  private closed(lane: Lane): void {
    const last = this.open.pop();
    const lastRank = this.ranks.pop();
    if (last !== undefined && lastRank !== undefined && last !== lane) {
      this.open[lane.place] = last;
      this.ranks[lane.place] = lastRank;
      last.place = lane.place;
    }
    lane.place = -1;
    this.openAt[lane.level] -= 1;
    if (this.openAt[lane.level] === 0) this.levels &= ~(1 << lane.level);
    if (lane.shape !== PLAIN_SHAPE) this.shaped.delete(lane.shape * PRIORITY_LEVELS + lane.level);
  }

  /** Persists all queues at once. When loading, the queue objects already exist. */
  static persist(archive: Archive, queues: readonly ReadyQueue[]): void {
    const paused = archive.numbers(
      'paused',
      queues.map((queue) => (queue.paused ? 1 : 0)),
    );
    queues.forEach((queue, index) => {
      queue.paused = paused[index] === 1;
    });
    const entries = archive.numbers(
      'lanes',
      queues.flatMap((queue) => queue.entries()),
    );
    if (!archive.isLoading) return;
    for (let at = 0; at < entries.length; at += LANE_NUMBERS) {
      queues[entries[at]].load(entries.slice(at + 1, at + LANE_NUMBERS));
    }
  }

  /** The lanes in a fixed order, independent of the order in which they opened. */
  private entries(): number[] {
    return this.open
      .toSorted((a, b) => a.level - b.level || a.shape - b.shape)
      .flatMap(({ level, shape, head, tail, length }) => {
        return [this.index, level, shape, head, tail, length];
      });
  }

  private load([level, shape, head, tail, length]: readonly number[]): void {
    const lane = this.laneFor(shape, level);
    lane.head = head as Slot;
    lane.tail = tail as Slot;
    lane.length = length;
    this.depth += length;
    this.opened(lane);
    this.rank(lane);
  }
}
