import type { RandomStream } from '../kernel/random.ts';

/** A run that the server acknowledged. */
export interface AcknowledgedRun {
  readonly id: string;
  readonly client: string;
}

/** The runs that clients know from answers. */
export class KnownRuns {
  readonly acknowledged: AcknowledgedRun[] = [];

  add(id: string, client: string): void {
    this.acknowledged.push({ id, client });
  }

  /** The id of a run, mostly of a recent one; sometimes an id that no run has. */
  pick(random: RandomStream): string {
    const { length } = this.acknowledged;
    if (length === 0 || random.chance(0.02)) return 'r_00000000000000000000';
    const back = Math.floor(random.logarithmic(1, length + 1));
    return this.acknowledged[length - back].id;
  }
}
