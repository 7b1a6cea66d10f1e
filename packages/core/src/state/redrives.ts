import type { Archive } from '../structures/archive.ts';

/** Dead letters that run again at a bounded rate. Durable: a restart goes on where it was. */
export interface Redrive {
  readonly namespace: string;
  /** Key of the only queue it is about; empty for all of the namespace. */
  readonly taskType: string;
  readonly ratePerSec: number;
  /** Only tasks that were dead by then: one that fails again is not run for ever. */
  readonly startedAt: number;
  /** When the next task may run; parts of a millisecond count. */
  readonly nextAt: number;
  readonly done: number;
}

type MutableRedrive = { -readonly [K in keyof Redrive]: Redrive[K] };

/** What everybody but `apply` sees. */
export interface RedrivesReader {
  readonly next: number;
  readonly size: number;
  get(number: number): Redrive | undefined;
  entries(): Iterable<readonly [number, Redrive]>;
  earliest(): number;
}

/**
 * How far a redrive that was held up may catch up. Over any time t it runs at most
 * rate × (t + this) + 1 tasks.
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

  /** When the next task of any redrive may run; infinite when none is under way. */
  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { nextAt } of this.running.values()) earliest = Math.min(earliest, nextAt);
    return Math.ceil(earliest);
  }

  start(number: number, redrive: Redrive): void {
    this.running.set(number, { ...redrive });
    this.next = number + 1;
  }

  /** One task of it ran again. */
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
