import type { StartTimer } from './retry-timer.ts';
import { type WriteFunction, writeToFile } from './write-all.ts';

/** A disk that has room, or has none, as the test says. */
export class FullDisk {
  isFull = false;
  /** The disk is full after so many writes. */
  writesLeft = Number.POSITIVE_INFINITY;
  code = 'ENOSPC';

  readonly write: WriteFunction = (descriptor, buffer, range, done) => {
    this.writesLeft -= 1;
    if (!this.isFull && this.writesLeft >= 0) return writeToFile(descriptor, buffer, range, done);
    return done(Object.assign(new Error(`${this.code}: injected`), { code: this.code }), 0);
  };
}

/** Timers that fire when the test says so. */
export class ManualTimers {
  #waiting: { readonly delayMs: number; readonly run: () => void }[] = [];

  readonly startTimer: StartTimer = (delayMs, run) => {
    const timer = { delayMs, run };
    this.#waiting.push(timer);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== timer);
    };
  };

  get delaysMs(): number[] {
    return this.#waiting.map(({ delayMs }) => delayMs);
  }

  fire(): void {
    const due = this.#waiting;
    this.#waiting = [];
    for (const { run } of due) run();
  }
}
