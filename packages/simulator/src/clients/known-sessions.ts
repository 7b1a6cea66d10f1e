import type { RandomStream } from '../kernel/random.ts';

/** All sessions that the server ever had, as an operator sees them in the list of workers. */
export class KnownSessions {
  private readonly ids: string[] = [];

  add(id: string): void {
    this.ids.push(id);
  }

  /** Prefers recent sessions, which may still exist. */
  pick(random: RandomStream): string {
    if (this.ids.length === 0) return 's_none';
    const back = Math.floor(random.logarithmic(1, this.ids.length + 1));
    return this.ids[this.ids.length - back];
  }
}
