import type { Entry, Journal, JournalTask } from './journal.ts';

/** The journal, and what the rounds need to know about it while they run. */
export class Ledger {
  private readonly journal: Journal;
  private listener: { readonly kind: Entry['kind']; readonly heard: () => void } | undefined;
  private readonly incomplete = new Map<number, Set<number>>();
  private readonly complete = new Set<number>();
  readonly ackedTasks = new Set<string>();

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** Number of submits with some tasks pushed and others not. */
  get incompleteBatches(): number {
    return this.incomplete.size;
  }

  write(entry: Entry): void {
    this.journal.write(entry);
    if (entry.kind === 'acked') for (const id of entry.ids) this.ackedTasks.add(id);
    if (entry.kind === 'pushed') for (const task of entry.tasks) this.notePush(task);
    if (entry.kind !== this.listener?.kind) return;
    const { heard } = this.listener;
    this.listener = undefined;
    heard();
  }

  /** Calls `heard` when the next entry of that kind is written. There is only one listener. */
  onNext(kind: Entry['kind'], heard: () => void): void {
    this.listener = { kind, heard };
  }

  private notePush({ batch, index, size }: JournalTask): void {
    // A failed task is pushed again, possibly long after its batch was complete.
    if (this.complete.has(batch)) return;
    const seen = this.incomplete.get(batch) ?? new Set();
    this.incomplete.set(batch, seen.add(index));
    if (seen.size < size) return;
    this.incomplete.delete(batch);
    this.complete.add(batch);
  }
}
