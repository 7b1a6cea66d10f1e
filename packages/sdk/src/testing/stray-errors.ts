const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Hears what would end the process. While it listens nobody else does: the test runner would count
 * a planted error as a failure.
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

  /** What happens now has happened, and what nobody caught was heard. */
  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
