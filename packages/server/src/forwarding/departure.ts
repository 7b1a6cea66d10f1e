import type { ServerResponse } from 'node:http';

/**
 * Tells the current step of a request that the client is gone. Each step replaces the listener of
 * the one before, so nothing has to be removed, and a client that left early is noticed by all.
 */
export class Departure {
  /** The client left before it had its whole answer. */
  isOver = false;
  /** Of the current step; set by `whenGone`, and called at most once. */
  private listener: (() => void) | undefined;

  constructor(response: ServerResponse) {
    const leave = (): void => {
      if (this.isOver || response.writableFinished) return;
      this.isOver = true;
      this.listener?.();
    };
    response.once('close', leave);
    response.on('error', leave);
  }

  /** Calls at once if the client is gone already. */
  whenGone(listener: () => void): void {
    this.listener = listener;
    if (this.isOver) listener();
  }

  /** Resolves after the time, or when the client is gone. */
  pause(timeMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeMs);
      this.whenGone(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
