import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { WAITS_FOR_DELAY, WAITS_FOR_TIME } from '../../schedule/schedule-settings.ts';
import type { Archive } from '../../structures/archive.ts';
import type { Arena } from '../../structures/arena.ts';
import { hashNumber, SlotIndex } from '../../structures/slot-index.ts';
import { TimingWheel } from '../../structures/timing-wheel.ts';
import { Backfills, type BackfillsReader } from './backfills.ts';
import { EarlierWorks, type EarlierWorksReader } from './earlier-works.ts';
import { Replicas, type ReplicasReader } from './replicas.ts';
import { type ScheduleReader, ScheduleTable } from './schedule-table.ts';

/** Read-only view for code outside `apply`. */
export interface SchedulesReader {
  readonly table: ScheduleReader;
  readonly timers: Pick<TimingWheel, 'firstDue' | 'earliest' | 'has' | 'count'>;
  readonly replicas: ReplicasReader;
  readonly backfills: BackfillsReader;
  readonly earlier: EarlierWorksReader;
  readonly watchedCount: number;
  find(namespace: number, name: Uint8Array): Slot;
}

type Payloads = Pick<Arena, 'bytesOf' | 'startOf'>;

/**
 * Schedules, their timers and what they wait for.
 *
 * schedules.one-timer: A schedule has a timer exactly while it is not paused, not blocked, and has
 *   a next time or a replica to start.
 * schedules.watched: The end of a task or run is watched exactly while a schedule is blocked by it
 *   or counts it among its replicas or earlier works.
 */
export class Schedules implements SchedulesReader {
  readonly table: ScheduleTable;
  readonly timers: TimingWheel;
  readonly replicas = new Replicas();
  readonly backfills = new Backfills();
  readonly earlier = new EarlierWorks();
  private readonly index: SlotIndex;
  /** The schedule that waits for the end of a task or run, by its number. Derived. */
  private readonly watched = new Map<number, Slot>();
  /** Set once, because the arena needs the columns of the table first. */
  payloads: Payloads | undefined;

  constructor(capacity: number) {
    this.table = new ScheduleTable(capacity);
    const { timerAt, number } = this.table;
    this.timers = new TimingWheel(capacity, { dueAt: timerAt, order: number });
    this.index = new SlotIndex(capacity);
  }

  get watchedCount(): number {
    return this.watched.size;
  }

  /** The schedule of this name in the namespace with this place. */
  find(namespace: number, name: Uint8Array): Slot {
    let slot = this.index.first(hashName(namespace, name, 0, name.length));
    while (slot !== NO_SLOT && !this.isNamed(slot, namespace, name)) {
      slot = this.index.following(slot);
    }
    return slot;
  }

  /** Call it once its name is stored. */
  addToIndex(slot: Slot): void {
    const { definition, namespace, nameBytes } = this.table;
    const bytes = this.payloads?.bytesOf(definition[slot]) ?? NO_BYTES;
    const start = this.payloads?.startOf(definition[slot]) ?? 0;
    this.index.add(slot, hashName(namespace[slot], bytes, start, start + nameBytes[slot]));
  }

  removeFromIndex(slot: Slot): void {
    this.index.remove(slot);
  }

  watch(number: number, schedule: Slot): void {
    this.watched.set(number, schedule);
  }

  unwatch(number: number): void {
    this.watched.delete(number);
  }

  /** The schedule that waits for the end of this task or run; `NO_SLOT` when none does. */
  watcherOf(number: number): Slot {
    return this.watched.size === 0 ? NO_SLOT : (this.watched.get(number) ?? NO_SLOT);
  }

  /** Sets the timer as the columns demand (schedules.one-timer). */
  retime(slot: Slot): void {
    const { table, timers } = this;
    if (timers.has(slot)) timers.remove(slot);
    const at = this.dueAt(slot);
    if (!Number.isFinite(at)) return;
    table.timerAt[slot] = at;
    timers.add(slot);
  }

  private dueAt(slot: Slot): number {
    const { table, replicas } = this;
    if (table.paused[slot] === 1 || table.isBlocked[slot] === 1) return Number.POSITIVE_INFINITY;
    if (table.replicas[slot] > 0) {
      const hasPlace = replicas.liveOf(slot) < table.replicas[slot];
      return hasPlace ? replicas.startAt(slot) : Number.POSITIVE_INFINITY;
    }
    if (table.nextAt[slot] === 0) return Number.POSITIVE_INFINITY;
    return Math.max(table.timerAt[slot], table.nextAt[slot], table.releasedAt[slot]);
  }

  persist(archive: Archive): void {
    archive.section('scheduleTable');
    this.table.persist(archive);
    archive.section('scheduleTimers');
    this.timers.persist(archive, this.table.used);
    archive.section('replicas');
    this.replicas.persist(archive, this.earlier);
    archive.section('backfills');
    this.backfills.persist(archive);
  }

  /** Rebuilds what is derived, once the payloads are loaded. */
  rebuild(): void {
    const { table, replicas } = this;
    for (let place = 0; place < table.used; place++) {
      const slot = place as Slot;
      if (table.number[slot] === 0) continue;
      this.addToIndex(slot);
      if (table.isBlocked[slot] === 1) this.watch(table.made[slot], slot);
      for (const { made } of replicas.of(slot)) if (made !== 0) this.watch(made, slot);
      for (const made of this.earlier.of(slot).keys()) this.watch(made, slot);
    }
  }

  private isNamed(slot: Slot, namespace: number, name: Uint8Array): boolean {
    const { table, payloads } = this;
    if (table.namespace[slot] !== namespace || table.nameBytes[slot] !== name.length) return false;
    const bytes = payloads?.bytesOf(table.definition[slot]) ?? NO_BYTES;
    const start = payloads?.startOf(table.definition[slot]) ?? 0;
    for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
    return true;
  }
}

const NO_BYTES = new Uint8Array(0);

function hashName(namespace: number, bytes: Uint8Array, start: number, end: number): number {
  let hash = hashNumber(namespace + 1);
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hashNumber(hash >>> 0);
}

/** Whether a fire of such a schedule waits for the end of what it makes. */
export function waitsForEnd(wait: number): boolean {
  return wait !== WAITS_FOR_TIME;
}

/** Whether the next time counts from the end of the last one. */
export function countsFromEnd(wait: number): boolean {
  return wait === WAITS_FOR_DELAY;
}
