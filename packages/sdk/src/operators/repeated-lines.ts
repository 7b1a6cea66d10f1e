import type { LogLine } from './operator-types.ts';

/** Maximum number of lines remembered; the server keeps about as many of an attempt. */
const LINES_MAX = 100_000;

/**
 * Recognizes lines that came before. The lines of a task have no ids, so a new connection sends all
 * lines again that the server still has.
 */
export class RepeatedLines {
  /** How often each line came on this connection. */
  private seen = new Map<string, number>();
  /** How often each line came on earlier connections and has not come again. */
  private before = new Map<string, number>();

  /** A new connection begins. */
  begin(): void {
    for (const [key, count] of this.seen) {
      this.before.set(key, Math.max(count, this.before.get(key) ?? 0));
    }
    this.seen = new Map();
    trim(this.before);
  }

  /** Whether the line did not come on an earlier connection. */
  isNew({ attempt, at, line }: LogLine): boolean {
    const key = `${attempt} ${at} ${line}`;
    const count = (this.seen.get(key) ?? 0) + 1;
    this.seen.set(key, count);
    trim(this.seen);
    return count > (this.before.get(key) ?? 0);
  }
}

/** The oldest lines go: the server has dropped them, too. */
function trim(lines: Map<string, number>): void {
  for (const key of lines.keys()) {
    if (lines.size <= LINES_MAX) return;
    lines.delete(key);
  }
}
