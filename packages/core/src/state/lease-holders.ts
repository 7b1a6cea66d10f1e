import { type HolderIndex, NO_HOLDER, NO_SLOT, type SessionId, type Slot } from '../base/ids.ts';
import type { Archive } from '../structures/archive.ts';
import { type ListLinks, persistLists, TaskList } from '../structures/task-list.ts';

/**
 * The durable part of a session that has or had leases.
 *
 * A restarted server has an empty roster. It learns from here which sessions may come back, and
 * with which leases (L7).
 */
export interface LeaseHolder {
  /** Empty exactly when the entry is free. */
  readonly session: SessionId;
  readonly worker: string;
  /** How long the session may be silent before its leases are lost. */
  readonly leaseMs: number;
  /**
   * The session's newest resume number at its newest lease. A lower number is an outdated resume.
   */
  readonly resume: number;
  /** When the holder went from no lease to one. The silence of an idle session does not count. */
  readonly heldSince: number;
  readonly held: TaskList;
}

type HolderDetails = Pick<LeaseHolder, 'session' | 'worker' | 'leaseMs' | 'resume'>;

type MutableHolder = { -readonly [K in keyof LeaseHolder]: LeaseHolder[K] };

export class LeaseHolders {
  private readonly holders: MutableHolder[] = [];
  private readonly byName = new Map<SessionId, HolderIndex>();
  private readonly freed: HolderIndex[] = [];
  private readonly links: ListLinks;
  /** How often a session that is known got another name of its worker. Volatile. */
  renames = 0;
  /** Number of tasks whose current or last lease names the holder. An entry with none is freed. */
  private readonly references: number[] = [];

  constructor(links: ListLinks) {
    this.links = links;
  }

  find(session: SessionId): HolderIndex {
    return this.byName.get(session) ?? NO_HOLDER;
  }

  at(index: HolderIndex): LeaseHolder {
    return this.holders[index];
  }

  /** Holders that have a lease now, in the order in which they were first seen. */
  *holding(): Iterable<LeaseHolder> {
    for (const holder of this.holders) if (holder.held.length > 0) yield holder;
  }

  /** Oldest lease first. `visit` must not change the list. */
  forEachHeld(index: HolderIndex, visit: (slot: Slot) => void): void {
    const { head } = this.holders[index].held;
    for (let slot = head; slot !== NO_SLOT; slot = this.links.next[slot] as Slot) visit(slot);
  }

  /** Finds or creates the session's entry and updates it to the newest lease. */
  intern({ session, worker, leaseMs, resume }: HolderDetails): HolderIndex {
    const known = this.byName.get(session);
    if (known !== undefined) {
      const holder = this.holders[known];
      if (holder.worker !== worker) this.renames += 1;
      holder.worker = worker;
      holder.leaseMs = leaseMs;
      holder.resume = resume;
      return known;
    }
    const index = this.freed.pop() ?? (this.holders.length as HolderIndex);
    this.holders[index] = {
      session,
      worker,
      leaseMs,
      resume,
      heldSince: 0,
      held: new TaskList(this.links),
    };
    this.references[index] = 0;
    this.byName.set(session, index);
    return index;
  }

  hold(index: HolderIndex, slot: Slot, at: number): void {
    const holder = this.holders[index];
    if (holder.held.length === 0) holder.heldSince = at;
    holder.held.append(slot);
    this.references[index] += 1;
  }

  letGo(index: HolderIndex, slot: Slot): void {
    this.holders[index].held.remove(slot);
  }

  /** A task no longer names this holder for its last lease. */
  forget(index: HolderIndex): void {
    this.references[index] -= 1;
    if (this.references[index] > 0) return;
    this.byName.delete(this.holders[index].session);
    this.holders[index].session = '' as SessionId;
    this.freed.push(index);
  }

  /**
   * All entries keep their places, including free ones: tasks name them, and the next session must
   * get the same free one.
   */
  persist(archive: Archive): void {
    const { holders } = this;
    const sessions = archive.texts(
      'session',
      holders.map(({ session }) => session),
    );
    const workers = archive.texts(
      'worker',
      holders.map(({ worker }) => worker),
    );
    const leasesMs = archive.numbers(
      'leaseMs',
      holders.map(({ leaseMs }) => leaseMs),
    );
    const resumes = archive.numbers(
      'resume',
      holders.map(({ resume }) => resume),
    );
    const heldSince = archive.numbers(
      'heldSince',
      holders.map((holder) => holder.heldSince),
    );
    const references = archive.numbers('references', this.references);
    const freed = archive.numbers('freed', this.freed);
    if (archive.isLoading) {
      for (const index of freed) this.freed.push(index as HolderIndex);
      sessions.forEach((session, index) => {
        holders[index] = {
          session: session as SessionId,
          worker: workers[index],
          leaseMs: leasesMs[index],
          resume: resumes[index],
          heldSince: heldSince[index],
          held: new TaskList(this.links),
        };
        this.references[index] = references[index];
        if (session !== '') this.byName.set(session as SessionId, index as HolderIndex);
      });
    }
    persistLists(
      archive,
      'held',
      holders.map(({ held }) => held),
    );
  }
}
