import type { Slot } from '../base/ids.ts';
import { TimingWheel } from '../structures/timing-wheel.ts';

/** What a worker last said of how far it is. */
export interface Progress {
  readonly fraction: number;
  readonly message: string;
}

/**
 * What is heard of leases between their start and their end. Volatile: after a restart every lease
 * counts as heard, and nobody knows of progress before it is said again (L7).
 */
export class LeaseActivity {
  /** When the silence of each slot's lease has lasted too long. */
  private readonly silentAt: Float64Array;
  private readonly silences: TimingWheel;
  private readonly progress = new Map<Slot, Progress>();

  constructor(capacity: number) {
    this.silentAt = new Float64Array(capacity);
    // Nothing decides among those of one millisecond: they all end in the same command.
    const order = new Float64Array(capacity);
    this.silences = new TimingWheel(capacity, { dueAt: this.silentAt, order });
  }

  /** The lease of the slot has been heard of, and may be silent until then. */
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
