import type { Event, ScheduleSettings } from '@sluice/core';
import { NaiveTimes } from './naive-times.ts';
import { ReplicaStories } from './replica-stories.ts';

export type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/** A task or run that a fire made. */
export interface Work {
  readonly number: number;
  readonly isRun: boolean;
}

interface BackfillStory {
  readonly number: number;
  nextTime: number;
  readonly until: number;
  readonly ratePerSec: number;
  nextAt: number;
}

/** A fire that is later than this was missed. */
const MISSED_AFTER_MS = 10_000;

/** As the contract says: how far a delayed backfill may catch up. */
const CATCH_UP_MS = 50;

/**
 * What the log tells about one schedule. It is a second implementation in plain values that never
 * looks at the core's state.
 */
export class ScheduleStory {
  readonly number: number;
  readonly namespace: string;
  readonly name: string;
  readonly slot: number;
  settings: ScheduleSettings;
  /** JSON text; empty for null. */
  input = '';
  times: NaiveTimes;
  anchor = 0;
  revision = 0;
  paused = false;
  nextAt = 0;
  timerAt = 0;
  delayMs = 0;
  /** Missed times in a row that were run later. */
  missed = 0;
  fires = 0;
  /** What the last fire by the clock or by a person made, and whether its end came. */
  last: Work | undefined;
  isLastOver = true;
  /** Earlier ones that ran when a trigger made the last one. */
  readonly beside = new Map<number, Work>();
  /** It waits for the end of what it made. */
  isBlocked = false;
  releasedAt = 0;
  readonly replicas = new ReplicaStories();
  backfill: BackfillStory | undefined;
  /** The world's time since when something is due. */
  overdueSince: number | undefined;

  constructor(event: EventOf<'schedule_put'>, settings: ScheduleSettings) {
    this.number = event.task;
    this.namespace = event.namespace;
    this.name = event.name;
    this.slot = event.slot;
    this.settings = settings;
    this.times = new NaiveTimes(settings, event.anchor);
  }

  get kind(): string {
    const { spec } = this.settings;
    if ('cron' in spec) return 'cron';
    if ('everyMs' in spec) return spec.mode;
    return 'at' in spec ? 'once' : 'permanent';
  }

  get isDelay(): boolean {
    return this.kind === 'fixedDelay';
  }

  /** Whether it waits for the end of what a fire made. */
  get waits(): boolean {
    return this.isDelay || (this.kind !== 'permanent' && this.settings.overlap === 'queue');
  }

  get replicaCount(): number {
    const { spec } = this.settings;
    return 'permanent' in spec ? spec.replicas : 0;
  }

  get windowEnd(): number {
    return this.settings.window?.to ?? Number.POSITIVE_INFINITY;
  }

  /** What a fire makes, without the times in it. */
  get work(): string {
    const { task, run } = this.settings;
    return JSON.stringify([task, run, this.input]);
  }

  /** When it fires next by itself. */
  get dueAt(): number {
    if (this.paused || this.isBlocked) return Number.POSITIVE_INFINITY;
    if (this.replicaCount > 0) {
      const hasPlace = this.replicas.live.length < this.replicaCount;
      return hasPlace ? this.replicas.dueAt : Number.POSITIVE_INFINITY;
    }
    if (this.nextAt === 0) return Number.POSITIVE_INFINITY;
    return Math.max(this.nextAt, this.timerAt, this.releasedAt);
  }

  /** Whether a fire at this time was missed. */
  isMissed(at: number): boolean {
    // A timer that is later than by jitter is a try after there was no room.
    const { jitterMs = 0 } = this.settings;
    const dueAt = this.missed > 0 ? this.nextAt : Math.min(this.timerAt, this.nextAt + jitterMs);
    return at - Math.max(dueAt, this.nextAt, this.releasedAt) > MISSED_AFTER_MS;
  }

  /** What a fire made is what the next one may have to wait for. */
  remember(work: Work, isTrigger: boolean, isLastLive: boolean): void {
    if (!isTrigger) this.beside.clear();
    else if (isLastLive && this.last !== undefined) this.beside.set(this.last.number, this.last);
    this.last = work;
    this.isLastOver = false;
    this.isBlocked = this.waits;
  }

  /** A task or run that it made has ended. */
  ended(number: number, end: { readonly at: number; readonly wasCancelled: boolean }): void {
    if (this.replicas.end(number, end)) {
      this.replicas.trim(this.replicaCount);
      return;
    }
    this.beside.delete(number);
    if (this.last?.number === number) this.isLastOver = true;
    if (!this.isBlocked || !this.isLastOver) return;
    const before = [...this.beside.values()].at(-1);
    if (before !== undefined) {
      this.beside.delete(before.number);
      this.last = before;
      this.isLastOver = false;
      return;
    }
    this.isBlocked = false;
    this.releasedAt = end.at;
    if (this.isDelay && this.nextAt === 0 && this.delayMs > 0) this.nextAt = end.at + this.delayMs;
  }

  stepBackfill(at: number, nextTime: number): void {
    const { backfill } = this;
    if (backfill === undefined) return;
    backfill.nextTime = nextTime;
    backfill.nextAt = Math.max(backfill.nextAt, at - CATCH_UP_MS) + 1000 / backfill.ratePerSec;
  }
}
