import type { Releasable } from './batch.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Term } from './term.ts';

const LOOK_MS = 1000;

/**
 * Views that wait for a commit, of a server that may lose its partition.
 *
 * The database may not answer for long. Once the term is over and is not renewed, nobody knows
 * whether the commit will land, so a view is given up: its caller learns more by asking again. What
 * was to be committed waits on.
 */
export class WaitingViews {
  private readonly term: Term;
  private readonly startTimer: EngineOptions['startTimer'];
  private readonly waiting = new Set<Releasable>();
  private isLooking = false;

  constructor(term: Term, startTimer: EngineOptions['startTimer']) {
    this.term = term;
    this.startTimer = startTimer;
  }

  /** Stands in the batch for the view until the commit. */
  add(view: Releasable): Releasable {
    this.waiting.add(view);
    this.lookLater();
    return {
      release: () => {
        if (this.waiting.delete(view)) view.release();
      },
      drop: (cause) => {
        if (this.waiting.delete(view)) view.drop(cause);
      },
    };
  }

  private lookLater(): void {
    if (this.isLooking || this.waiting.size === 0) return;
    this.isLooking = true;
    this.startTimer(LOOK_MS, () => {
      this.isLooking = false;
      if (this.term.isOver()) this.giveUp([...this.waiting]);
      this.lookLater();
    });
  }

  private giveUp(views: readonly Releasable[]): void {
    const drop = (cause: Error): void => {
      for (const view of views) if (this.waiting.delete(view)) view.drop(cause);
    };
    this.term.whenRenewed(() => undefined, drop);
  }
}
