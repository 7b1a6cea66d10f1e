/** Maximum lines of one kind per period. A failing disk may cause one line per event. */
const LINES_MAX = 100;

const PERIOD_MS = 60 * 60 * 1000;

/**
 * Prevents notices of damage from filling the server's log: there may be one per event or query.
 */
export class NoticeLimit {
  private readonly clock: () => number;
  private readonly counts = new Map<string, number>();
  private periodEnd = 0;

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Whether to log one more notice of this kind, as usual or as the last one of the period. */
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
