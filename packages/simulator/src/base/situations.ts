/**
 * How often named situations occurred. A run that meets few of them proves little. The situations
 * that must occur in a thousand seeds are listed in `seeds/must-occur.ts`.
 */
export class Situations {
  readonly counts = new Map<string, number>();

  note(situation: string): void {
    this.counts.set(situation, (this.counts.get(situation) ?? 0) + 1);
  }

  /** Adds the counts of another run. */
  add(counts: Iterable<readonly [string, number]>): void {
    for (const [situation, count] of counts) {
      this.counts.set(situation, (this.counts.get(situation) ?? 0) + count);
    }
  }
}
