import type { Entry, Journal, JournalTask } from './journal.ts';

/** The journal, and what has to be known of it while the rounds go on. */
export class Ledger {
  private readonly journal: Journal;
  private listener: { readonly kind: Entry['kind']; readonly heard: () => void } | undefined;
  private readonly incomplete = new Map<number, Set<number>>();
  readonly ackedTasks: string[] = [];

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** Submits of which some tasks were pushed and others were not. */
  get incompleteBatches(): number {
    return this.incomplete.size;
  }

  write(entry: Entry): void {
    this.journal.write(entry);
    if (entry.kind === 'acked') this.ackedTasks.push(...entry.ids);
    if (entry.kind === 'pushed') for (const task of entry.tasks) this.notePush(task);
    if (entry.kind !== this.listener?.kind) return;
    const { heard } = this.listener;
    this.listener = undefined;
    heard();
  }

  /** Calls `heard` when the next entry of that kind is written. One waits at a time. */
  onNext(kind: Entry['kind'], heard: () => void): void {
    this.listener = { kind, heard };
  }

  private notePush({ batch, index, size }: JournalTask): void {
    const seen = this.incomplete.get(batch) ?? new Set();
    seen.add(index);
    if (seen.size < size) this.incomplete.set(batch, seen);
    else this.incomplete.delete(batch);
  }
}
