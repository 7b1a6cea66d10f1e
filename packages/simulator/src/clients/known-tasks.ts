import type { RandomStream } from '../kernel/random.ts';

/** The tasks that clients know from answers. */
export class KnownTasks {
  private readonly ids: string[] = [];
  private numbers = 0;

  get size(): number {
    return this.ids.length;
  }

  /** Unique among all tasks that clients create. */
  nextNumber(): number {
    this.numbers += 1;
    return this.numbers;
  }

  add(id: string): void {
    this.ids.push(id);
  }

  /** The id of a task, mostly of a recent one; sometimes an id that no task has. */
  pick(random: RandomStream): string {
    if (this.ids.length === 0 || random.chance(0.02)) return 't_00000000000000000000';
    const back = Math.floor(random.logarithmic(1, this.ids.length + 1));
    return this.ids[this.ids.length - back];
  }
}
