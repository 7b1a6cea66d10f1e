import { OutputTail } from '../logic/output-tail.ts';

const FLUSH_EVERY_MS = 100;
const LAST_ERRORS_KEPT = 5;

/** Sends the output of a program to the log of its task, and keeps what an end needs of it. */
export class OutputLog {
  private readonly log: (line: string) => void;
  private readonly clean: (line: string) => string;
  private readonly out = new OutputTail();
  private readonly err = new OutputTail();
  private readonly flushing: NodeJS.Timeout;
  private isOnError = false;
  /** The last lines on stderr, without secrets. */
  readonly lastErrors: string[] = [];
  /** The last line of stdout that has anything in it. */
  lastLine = '';

  constructor(log: (line: string) => void, clean: (line: string) => string) {
    this.log = log;
    this.clean = clean;
    this.flushing = setInterval(() => this.flush(), FLUSH_EVERY_MS);
  }

  push(bytes: Uint8Array, isError: boolean): void {
    // What came first on the other stream stays first.
    if (isError !== this.isOnError) this.flush();
    this.isOnError = isError;
    (isError ? this.err : this.out).push(bytes);
  }

  /** The output is complete. */
  end(): void {
    clearInterval(this.flushing);
    this.take(this.out.end(), this.err.end());
  }

  private flush(): void {
    this.take(this.out.take(), this.err.take());
  }

  private take(lines: readonly string[], errors: readonly string[]): void {
    for (const line of lines) {
      if (line.trim() !== '') this.lastLine = line;
      this.log(this.clean(line));
    }
    for (const line of errors) {
      const shown = this.clean(line);
      if (line.trim() !== '') this.lastErrors.push(shown);
      if (this.lastErrors.length > LAST_ERRORS_KEPT) this.lastErrors.shift();
      this.log(shown);
    }
  }
}
