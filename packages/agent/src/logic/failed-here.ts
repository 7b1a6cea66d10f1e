/** How long others may take a task that failed here, from the first time that it is handed back. */
const OTHERS_MS = 10_000;

/** Number of tasks that are remembered; the oldest are forgotten. */
const REMEMBERED_MAX = 10_000;

/**
 * Remembers which tasks failed on this host, so that another host may try them first. When none
 * takes the task within a while, it runs here again: a task must not wait for a host that may never
 * come.
 */
export class FailedHere {
  /** By the id of the task. `since` is when it was first handed back; 0 when it was not yet. */
  private readonly failed = new Map<string, { readonly attempt: number; since: number }>();

  note({ id, attempt }: Attempt): void {
    this.failed.delete(id);
    this.failed.set(id, { attempt, since: 0 });
    if (this.failed.size <= REMEMBERED_MAX) return;
    const [oldest = ''] = this.failed.keys();
    this.failed.delete(oldest);
  }

  /** Whether the attempt that was pushed to this host should go to another one. */
  belongsElsewhere({ id, attempt }: Attempt, now: number): boolean {
    const failure = this.failed.get(id);
    // Only the attempt before this one counts: since then another host may have failed, too.
    if (failure === undefined || failure.attempt !== attempt - 1) return false;
    if (failure.since === 0) failure.since = now;
    return now - failure.since < OTHERS_MS;
  }
}

interface Attempt {
  /** Of the task. */
  readonly id: string;
  /** Handing a task back does not change it. */
  readonly attempt: number;
}
