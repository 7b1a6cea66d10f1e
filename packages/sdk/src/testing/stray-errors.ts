const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Catches errors that would end the process. Meanwhile it removes all other listeners: the test
 * runner would count a planted error as a failure.
 */
export class StrayErrors {
  readonly heard: unknown[] = [];
  private readonly others = new Map<string, ((...args: never[]) => void)[]>();
  private readonly hear = (cause: unknown): void => void this.heard.push(cause);

  listen(): void {
    this.heard.length = 0;
    for (const event of EVENTS) {
      this.others.set(event, process.listeners(event as 'exit') as never);
      process.removeAllListeners(event);
      process.on(event, this.hear);
    }
  }

  stop(): void {
    for (const event of EVENTS) {
      process.off(event, this.hear);
      for (const other of this.others.get(event) ?? []) process.on(event, other as never);
    }
  }

  /** Waits one turn, so that uncaught errors have been recorded. */
  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
