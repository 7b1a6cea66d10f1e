import type { Slot } from '../base/ids.ts';
import { float64s } from '../structures/column-memory.ts';
import { TimingWheel } from '../structures/timing-wheel.ts';

/** The last progress that a worker reported. */
export interface Progress {
  readonly fraction: number;
  readonly message: string;
}

/**
 * Heartbeats and progress of leases. Volatile: after a restart every lease counts as heard, and
 * progress is unknown until it is reported again (L7).
 */
export class LeaseActivity {
  /** When the heartbeat timeout of each slot's lease ends. */
  private readonly silentAt: Float64Array;
  private readonly silences: TimingWheel;
  private readonly progress = new Map<Slot, Progress>();

  constructor(capacity: number) {
    this.silentAt = float64s(capacity);
    // Order within a millisecond does not matter: all of them end in the same command.
    const order = float64s(capacity);
    this.silences = new TimingWheel(capacity, { dueAt: this.silentAt, order });
  }

  /** The lease was heard, and may be silent until `silentAt`. */
  hear(slot: Slot, silentAt: number): void {
    if (this.silences.has(slot)) this.silences.remove(slot);
    if (silentAt === Number.POSITIVE_INFINITY) return;
    this.silentAt[slot] = silentAt;
    this.silences.add(slot);
  }

  firstSilent(now: number): Slot {
    return this.silences.firstDue(now);
  }

  earliest(): number {
    return this.silences.earliest();
  }

  setProgress(slot: Slot, progress: Progress): void {
    this.progress.set(slot, progress);
  }

  progressOf(slot: Slot): Progress | undefined {
    return this.progress.get(slot);
  }

  /** The lease ended. */
  forget(slot: Slot): void {
    if (this.silences.has(slot)) this.silences.remove(slot);
    if (this.progress.size > 0) this.progress.delete(slot);
  }
}
