import { LIMITS } from '@sluice/protocol/limits';
import { clippedText } from '../base/shown-value.ts';

/** A longer line is cut. */
const LINE_CHARACTERS_MAX = 8192;

/** Maximum characters of one attempt's lines that are not in a report yet; the newest are kept. */
const KEPT_CHARACTERS_MAX = 128 * 1024;

/** While this many characters wait for an answer, newer lines are not put into reports. */
const UNANSWERED_CHARACTERS_MAX = 128 * 1024;

/**
 * The lines of one attempt that were not answered yet.
 *
 * attempt-log.numbered-reports: A report is rendered once. Its number is higher than that of the
 *   report before, so the server recognizes a repeat.
 * attempt-log.bounded-memory: The memory is bounded (L9). When a handler writes faster than the
 *   server answers, old lines that are not in a report are dropped, and the next report says how
 *   many.
 * attempt-log.bounded-report: A report has no more lines than the server accepts.
 */
export class AttemptLog {
  private readonly lease: string;
  /** As JSON, so that the size of a line in a request is known before it is sent. */
  private lines: string[] = [];
  /** Total length of `lines`. */
  private characters = 0;
  /** Reports without an answer, oldest first. */
  private unanswered: string[] = [];
  private dropped = 0;
  private reports: number;

  /** `reports` is higher than every number that an earlier process used for the lease. */
  constructor(lease: string, reports = 0) {
    this.lease = lease;
    this.reports = reports;
  }

  get isEmpty(): boolean {
    return this.lines.length === 0 && this.unanswered.length === 0 && this.dropped === 0;
  }

  add(line: string): void {
    const text = JSON.stringify(clippedText(line, LINE_CHARACTERS_MAX));
    this.lines.push(text);
    this.characters += costOf(text);
    if (this.characters <= KEPT_CHARACTERS_MAX) return;
    let place = 0;
    // Drops a quarter at once: moving the rest up for every line would cost too much.
    for (; this.characters > KEPT_CHARACTERS_MAX * 0.75; place++) {
      this.characters -= costOf(this.lines[place]);
    }
    this.lines.splice(0, place);
    this.dropped += place;
  }

  /**
   * The reports to send. Before the end of the attempt it returns everything, because nothing can
   * follow the end.
   */
  take(isLast = false): readonly string[] {
    const waiting = this.unanswered.reduce((sum, { length }) => sum + length, 0);
    if (!isLast && waiting >= UNANSWERED_CHARACTERS_MAX) return this.unanswered;
    if (this.dropped > 0) {
      this.lines.unshift(JSON.stringify(`… ${this.dropped} lines were not sent: too many`));
    }
    for (let from = 0; from < this.lines.length; from += LIMITS.logLinesMax) {
      this.unanswered.push(this.worded(this.lines.slice(from, from + LIMITS.logLinesMax)));
    }
    this.lines = [];
    this.characters = 0;
    this.dropped = 0;
    return this.unanswered;
  }

  /** The server has this report, or will never accept it. */
  answered(report: string): void {
    this.unanswered = this.unanswered.filter((text) => text !== report);
  }

  private worded(lines: readonly string[]): string {
    this.reports += 1;
    const lease = JSON.stringify(this.lease);
    return `{"lease":${lease},"kind":"log","seq":${this.reports},"lines":[${lines.join(',')}]}`;
  }
}

/** Length with its comma. */
function costOf(line: string): number {
  return line.length + 1;
}
