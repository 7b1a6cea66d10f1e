import type { AttemptLines } from './log-file.ts';

export type LineListener = (lines: AttemptLines) => void;

/** Those who follow the lines of tasks. */
export class LineListeners {
  private readonly listeners = new Map<string, Set<LineListener>>();

  /** Returns the function that ends it. */
  add(id: string, listener: LineListener): () => void {
    const known = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, known.add(listener));
    return () => {
      known.delete(listener);
      if (known.size === 0 && this.listeners.get(id) === known) this.listeners.delete(id);
    };
  }

  tell(lines: AttemptLines): void {
    for (const listener of this.listeners.get(lines.id) ?? []) listener(lines);
  }
}
