import type { TaskRecord } from '../records/task-record.ts';
import { ErrorGroupCount, type ErrorGroups } from './error-groups.ts';

/** How long a count works before the thread does something else. */
const SLICE_MS = 20;

/** Maximum work of one count; dead letters not reached by then are left out. */
const COUNT_MS_MAX = 5000;

/** Dead letters of a namespace, or of one of its queues. */
export interface CountScope {
  readonly namespace: string;
  readonly queue: string | undefined;
}

interface Parts {
  /** Newest first, read on demand. */
  readonly deadLetters: (scope: CountScope) => Iterable<TaskRecord>;
  /** In milliseconds. */
  readonly clock: () => number;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
}

/**
 * Counts dead letters in slices. A hundred thousand of them take seconds, and the thread has other
 * queries and batches to handle meanwhile.
 *
 * One count runs at a time. A query that comes while an equal one waits shares its count. It does
 * not share one that has begun, which may lack later changes.
 */
export class DeadLetterCount {
  private readonly parts: Parts;
  private readonly waiting = new Map<string, Promise<ErrorGroups>>();
  /** Settles when all requested counts are over. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  groups(scope: CountScope): Promise<ErrorGroups> {
    const key = JSON.stringify([scope.namespace, scope.queue]);
    const same = this.waiting.get(key);
    if (same !== undefined) return same;
    const count = this.last.then(() => {
      this.waiting.delete(key);
      return this.count(scope);
    });
    this.waiting.set(key, count);
    // The callers of a failed count get its error.
    this.last = count.catch(() => undefined);
    return count;
  }

  private async count(scope: CountScope): Promise<ErrorGroups> {
    const { clock, pause, deadLetters } = this.parts;
    const counts = new ErrorGroupCount(Date.now());
    let workedMs = 0;
    let begunAt = clock();
    for (const record of deadLetters(scope)) {
      counts.add(record);
      const sliceMs = clock() - begunAt;
      if (sliceMs < SLICE_MS) continue;
      workedMs += sliceMs;
      if (workedMs >= COUNT_MS_MAX) return counts.result(false);
      await pause();
      begunAt = clock();
    }
    return counts.result(true);
  }
}
