/** Number of lines that are kept for the report of a failure. */
const KEPT_LINES = 200;

/**
 * Everything that happened, line by line, and a hash of it. Two runs of a seed are equal exactly
 * when their hashes are.
 */
export class Trace {
  private readonly print: ((line: string) => void) | undefined;
  private readonly kept: string[] = [];
  private low = 0x811c9dc5;
  private high = 0x9e3779b9;
  lines = 0;

  constructor(print?: (line: string) => void) {
    this.print = print;
  }

  add(at: number, who: string, what: string): void {
    const line = `${at.toFixed(3).padStart(12)} ${who.padEnd(10)} ${what}`;
    this.hashLine(line);
    this.kept[this.lines % KEPT_LINES] = line;
    this.lines += 1;
    this.print?.(line);
  }

  /** The last lines, oldest first. */
  last(count: number): string[] {
    const from = Math.max(0, this.lines - Math.min(count, KEPT_LINES));
    const places = Array.from({ length: this.lines - from }, (_, i) => (from + i) % KEPT_LINES);
    return places.map((place) => this.kept[place]);
  }

  get hash(): string {
    const words = [this.high, this.low].map((word) => (word >>> 0).toString(16).padStart(8, '0'));
    return words.join('');
  }

  private hashLine(line: string): void {
    let { low, high } = this;
    for (let i = 0; i < line.length; i++) {
      const unit = line.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ unit, 0x85ebca6b) ^ (high >>> 13);
    }
    this.low = low | 0;
    this.high = high | 0;
  }
}
