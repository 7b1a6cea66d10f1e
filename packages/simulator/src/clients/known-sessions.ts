import type { RandomStream } from '../kernel/random.ts';

/** The sessions that the server ever had: what an operator sees in a list of workers. */
export class KnownSessions {
  private readonly ids: string[] = [];

  add(id: string): void {
    this.ids.push(id);
  }

  /** Mostly a young one, which may still be there. */
  pick(random: RandomStream): string {
    if (this.ids.length === 0) return 's_none';
    const back = Math.floor(random.logarithmic(1, this.ids.length + 1));
    return this.ids[this.ids.length - back];
  }
}
