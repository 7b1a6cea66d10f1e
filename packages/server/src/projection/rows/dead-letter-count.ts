import { ErrorGroupCount, type ErrorGroups } from './error-groups.ts';
import type { TaskRecord } from './task-record.ts';

/** Work goes on for this long before the thread does something else. */
const SLICE_MS = 20;

/** Work that one count may take; what is not counted by then is left out. */
const COUNT_MS_MAX = 5000;

/** Dead letters of a namespace, or of one of its queues. */
export interface CountScope {
  readonly namespace: string;
  readonly queue: string | undefined;
}

interface Parts {
  /** Newest first, read as they are asked for. */
  readonly deadLetters: (scope: CountScope) => Iterable<TaskRecord>;
  /** In milliseconds. */
  readonly clock: () => number;
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>;
}

/**
 * Counts dead letters in slices, because a hundred thousand of them take seconds and the thread has
 * other questions and batches to take meanwhile.
 *
 * One count is under way at a time. A question that comes while an equal one waits shares its
 * count; it does not share one that has begun, which may lack what happened since.
 */
export class DeadLetterCount {
  private readonly parts: Parts;
  private readonly waiting = new Map<string, Promise<ErrorGroups>>();
  /** Settles when all counts that were asked for are over. */
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
    // One that fails is told to those who asked for it.
    this.last = count.catch(() => undefined);
    return count;
  }

  private async count(scope: CountScope): Promise<ErrorGroups> {
    const { clock, pause, deadLetters } = this.parts;
    const counts = new ErrorGroupCount();
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
