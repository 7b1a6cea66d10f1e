import type { Archive } from '../structures/archive.ts';

/**
 * Retries dead letters at a limited rate. Durable: after a restart it continues where it stopped.
 */
export interface Redrive {
  readonly namespace: string;
  /** Key of the redrive's only queue; empty for all queues of the namespace. */
  readonly taskType: string;
  readonly ratePerSec: number;
  /**
   * Only tasks that were dead by then are retried, so that a task that fails again is not retried
   * for ever.
   */
  readonly startedAt: number;
  /** When the next task may run, with fractions of a millisecond. */
  readonly nextAt: number;
  readonly done: number;
}

type MutableRedrive = { -readonly [K in keyof Redrive]: Redrive[K] };

/** Read-only view for code outside `apply`. */
export interface RedrivesReader {
  readonly next: number;
  readonly size: number;
  get(number: number): Redrive | undefined;
  entries(): Iterable<readonly [number, Redrive]>;
  earliest(): number;
}

/**
 * How far a delayed redrive may catch up. Over any time t it runs at most rate × (t + this) + 1
 * tasks.
 */
const CATCH_UP_MS = 50;

export class Redrives implements RedrivesReader {
  next = 1;
  private readonly running = new Map<number, MutableRedrive>();

  get size(): number {
    return this.running.size;
  }

  get(number: number): Redrive | undefined {
    return this.running.get(number);
  }

  entries(): Iterable<readonly [number, Redrive]> {
    return this.running;
  }

  /** When the next task of any redrive may run; infinite without a redrive. */
  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { nextAt } of this.running.values()) earliest = Math.min(earliest, nextAt);
    return Math.ceil(earliest);
  }

  start(number: number, redrive: Redrive): void {
    this.running.set(number, { ...redrive });
    this.next = number + 1;
  }

  /** The redrive retried one task. */
  step(number: number, at: number): void {
    const redrive = this.running.get(number);
    if (redrive === undefined) return;
    redrive.done += 1;
    redrive.nextAt = Math.max(redrive.nextAt, at - CATCH_UP_MS) + 1000 / redrive.ratePerSec;
  }

  end(number: number): void {
    this.running.delete(number);
  }

  persist(archive: Archive): void {
    const running = [...this.running.values()];
    this.next = archive.number('next', this.next);
    const numbers = archive.numbers('numbers', [...this.running.keys()]);
    const namespaces = archive.texts(
      'namespaces',
      running.map(({ namespace }) => namespace),
    );
    const taskTypes = archive.texts(
      'taskTypes',
      running.map(({ taskType }) => taskType),
    );
    const figures = archive.numbers(
      'figures',
      running.flatMap(({ ratePerSec, startedAt, nextAt, done }) => {
        return [ratePerSec, startedAt, nextAt, done];
      }),
    );
    if (!archive.isLoading) return;
    numbers.forEach((number, index) => {
      const [ratePerSec, startedAt, nextAt, done] = figures.slice(index * 4);
      const scope = { namespace: namespaces[index], taskType: taskTypes[index] };
      this.running.set(number, { ...scope, ratePerSec, startedAt, nextAt, done });
    });
  }
}
