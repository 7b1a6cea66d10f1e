import { LIMITS } from '@sluice/protocol/limits';
import { clippedText } from '../base/shown-value.ts';

/** A longer line is cut. */
const LINE_CHARACTERS_MAX = 8192;

/** So much is kept of one attempt until it is put into words; of more, the newest. */
const KEPT_CHARACTERS_MAX = 128 * 1024;

/** While so much waits for its answer, newer lines are not put into words. */
const UNANSWERED_CHARACTERS_MAX = 128 * 1024;

/**
 * The lines that one attempt wrote and that were not answered.
 *
 * Q1 A report is put into words once and has a number of its own, higher than the one before, so
 *    that the server can tell one that is sent again.
 * Q2 What is kept is bounded (L9): when a handler writes faster than the server answers, old lines
 *    that were not put into words are dropped, and the next report says how many.
 * Q3 A report has no more lines than the server takes.
 */
export class AttemptLog {
  private readonly lease: string;
  /** As JSON: what a line costs in a request is known before it is sent. */
  private lines: string[] = [];
  /** Of `lines`. */
  private characters = 0;
  /** Reports without an answer, oldest first. */
  private unanswered: string[] = [];
  private dropped = 0;
  private reports = 0;

  constructor(lease: string) {
    this.lease = lease;
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
    // A quarter at once: the rest moves up, which costs too much to do for every line.
    for (; this.characters > KEPT_CHARACTERS_MAX * 0.75; place++) {
      this.characters -= costOf(this.lines[place]);
    }
    this.lines.splice(0, place);
    this.dropped += place;
  }

  /**
   * What is to be said, as reports; before the end of the attempt that is all there is, because
   * nothing can follow it.
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

  /** The server has this report, or will never take it. */
  answered(report: string): void {
    this.unanswered = this.unanswered.filter((text) => text !== report);
  }

  private worded(lines: readonly string[]): string {
    this.reports += 1;
    const lease = JSON.stringify(this.lease);
    return `{"lease":${lease},"kind":"log","seq":${this.reports},"lines":[${lines.join(',')}]}`;
  }
}

/** With its comma. */
function costOf(line: string): number {
  return line.length + 1;
}
