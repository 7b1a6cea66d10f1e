/** Lines of one kind in one period. A disk that fails may make one of every event. */
const LINES_MAX = 100;

const PERIOD_MS = 60 * 60 * 1000;

/** Keeps damage, which may be named once per event or question, from filling the server's log. */
export class NoticeLimit {
  private readonly clock: () => number;
  private readonly counts = new Map<string, number>();
  private periodEnd = 0;

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Whether one more of this kind is to be said, as usual or as the last one for a while. */
  take(kind: string): 'say' | 'say last' | 'drop' {
    const now = this.clock();
    if (now >= this.periodEnd) {
      this.counts.clear();
      this.periodEnd = now + PERIOD_MS;
    }
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    if (count < LINES_MAX) return 'say';
    return count === LINES_MAX ? 'say last' : 'drop';
  }
}
