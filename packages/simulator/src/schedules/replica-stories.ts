interface ReplicaStory {
  /** Number of the task or run; 0 while none runs. */
  made: number;
  madeAt: number;
  isRun: boolean;
  /** When the next one may start, while none runs. */
  startAt: number;
  /** Short lives in a row. */
  failures: number;
  /** The work that it was made from. */
  work: string;
}

/** One that ran this long did not fail at its start. */
const HEALTHY_MS = 60_000;

const BACKOFF_MS_MAX = 60_000;

/** The replicas of one schedule, as the log tells. */
export class ReplicaStories {
  private readonly places: ReplicaStory[] = [];

  get live(): readonly ReplicaStory[] {
    return this.places.filter(({ made }) => made !== 0);
  }

  /** When the next one may start; infinite when all run. */
  get dueAt(): number {
    const idle = this.places.filter(({ made }) => made === 0);
    return Math.min(Number.POSITIVE_INFINITY, ...idle.map(({ startAt }) => startAt));
  }

  at(place: number): Readonly<ReplicaStory> | undefined {
    return this.places.at(place);
  }

  resize(count: number, at: number): void {
    while (this.places.length < count) {
      this.places.push({ made: 0, madeAt: 0, isRun: false, startAt: at, failures: 0, work: '' });
    }
    this.trim(count);
  }

  /** Those that do not run may start at once. */
  release(at: number): void {
    for (const each of this.places) if (each.made === 0) each.startAt = at;
  }

  delay(until: number): void {
    for (const each of this.places) {
      if (each.made === 0) each.startAt = Math.max(each.startAt, until);
    }
  }

  start(place: number, started: Pick<ReplicaStory, 'made' | 'madeAt' | 'isRun' | 'work'>): void {
    Object.assign(this.places[place], started);
  }

  /** Returns whether it was one of them. After short lives in a row the next one starts later. */
  end(made: number, { at, wasCancelled }: { at: number; wasCancelled: boolean }): boolean {
    const replica = this.places.find((each) => each.made === made);
    if (replica === undefined) return false;
    const isHealthy = wasCancelled || at - replica.madeAt >= HEALTHY_MS;
    replica.failures = isHealthy ? 0 : replica.failures + 1;
    const backoffMs = Math.min(BACKOFF_MS_MAX, 500 * 2 ** replica.failures);
    replica.startAt = isHealthy ? at : at + backoffMs;
    replica.made = 0;
    return true;
  }

  /** Drops places without a replica, the last ones first, down to `count`. */
  trim(count: number): void {
    for (let place = this.places.length - 1; place >= 0; place--) {
      if (this.places.length <= count) return;
      if (this.places[place].made === 0) this.places.splice(place, 1);
    }
  }
}
