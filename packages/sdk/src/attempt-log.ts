/** A longer line is cut. */
const LINE_CHARACTERS_MAX = 8192;

/** So much is kept of one attempt until it is answered; of more, the newest. */
const KEPT_CHARACTERS_MAX = 128 * 1024;

/**
 * The lines that one attempt wrote and that were not answered.
 *
 * Q1 A report is put into words once and has a number of its own, higher than the one before, so
 *    that the server can tell one that is sent again.
 * Q2 What is kept is bounded (L9): when a handler writes faster than the server answers, old lines
 *    that were not put into words are dropped, and the next report says how many.
 */
export class AttemptLog {
  private readonly lease: string;
  private lines: string[] = [];
  /** Reports without an answer, oldest first. */
  private unanswered: string[] = [];
  private characters = 0;
  private dropped = 0;
  private reports = 0;

  constructor(lease: string) {
    this.lease = lease;
  }

  get isEmpty(): boolean {
    return this.lines.length === 0 && this.unanswered.length === 0;
  }

  add(line: string): void {
    const text = line.slice(0, LINE_CHARACTERS_MAX);
    this.lines.push(text);
    this.characters += text.length;
    while (this.characters > KEPT_CHARACTERS_MAX && this.lines.length > 0) {
      this.characters -= this.lines.shift()?.length ?? 0;
      this.dropped += 1;
    }
  }

  /** All that is to be said, as reports. */
  take(): readonly string[] {
    if (this.lines.length > 0) {
      const gap = this.dropped === 0 ? [] : [`… ${this.dropped} lines were not sent: too many`];
      this.reports += 1;
      this.unanswered.push(
        JSON.stringify({
          lease: this.lease,
          kind: 'log',
          seq: this.reports,
          lines: [...gap, ...this.lines],
        }),
      );
      this.lines = [];
      this.dropped = 0;
    }
    return this.unanswered;
  }

  /** The server has this report, or will never take it. */
  answered(report: string): void {
    this.unanswered = this.unanswered.filter((text) => text !== report);
    this.characters = [...this.lines, ...this.unanswered].reduce(
      (sum, { length }) => sum + length,
      0,
    );
  }
}
