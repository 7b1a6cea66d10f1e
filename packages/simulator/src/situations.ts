/**
 * How often named situations occurred: a run that meets none of them shows little. What must occur
 * in a thousand seeds is listed in `must-occur.ts`.
 */
export class Situations {
  readonly counts = new Map<string, number>();

  note(situation: string): void {
    this.counts.set(situation, (this.counts.get(situation) ?? 0) + 1);
  }

  /** Adds those of another run. */
  add(counts: Iterable<readonly [string, number]>): void {
    for (const [situation, count] of counts) {
      this.counts.set(situation, (this.counts.get(situation) ?? 0) + count);
    }
  }
}
