import { EngineStoppedError, type Term } from '@sluice/engine';

/** A hold is over in the database this long after its last renewal. */
export const HOLD_MS = 5_000;

/** How often an owner renews its hold. */
export const RENEW_MS = 1_000;

/** How often other servers look at it. */
export const LOOK_MS = 250;

/** The same while nobody holds it. */
export const LOOK_SOON_MS = 50;

/** An owner answers from memory this long after it sent its last renewal that was answered. */
export const TERM_MS = 4_000;

/** A read that finds the term over waits this long for a renewal. */
const RENEWAL_WAIT_MS = 1_000;

/** Two looks that are further apart say nothing about the time between them. */
const GAP_MS_MAX = 1_000;

/** What was seen of a hold. */
interface SeenHold {
  readonly epoch: number;
  readonly renewals: number;
  readonly isExpired: boolean;
}

/**
 * Decides when a hold may be claimed although nothing is known about its owner.
 *
 * hold.watched-silence: The same renewal was seen for 5 s on this server's monotonic clock, in
 *   looks at most 1 s apart, and the hold is over by the database's clock. The renewal was sent
 *   before it was first seen, and its owner answers from memory for 4 s after it was sent. So the
 *   owner has stopped answering before anybody claims. A database whose clock jumps, or that was
 *   away, cannot shorten this.
 */
export class HoldWatch {
  private seen: SeenHold | undefined;
  private since = 0;
  private lastAt = 0;

  /** Returns true when the hold may be claimed. `now` is the time of the answer. */
  saw(hold: SeenHold, now: number): boolean {
    const { seen } = this;
    const isSame = seen?.epoch === hold.epoch && seen.renewals === hold.renewals;
    if (!isSame || now - this.lastAt > GAP_MS_MAX) this.since = now;
    this.seen = hold;
    this.lastAt = now;
    return hold.isExpired && now - this.since >= HOLD_MS;
  }
}

interface TermClocks {
  readonly monotonic: () => number;
  /** Also counts the time in which the machine slept. */
  readonly wall: () => number;
}

interface WaitingRead {
  readonly release: () => void;
  readonly drop: (cause: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The owner cannot know whether it still is. */
export class TermOverError extends EngineStoppedError {}

/** Until when an owner may answer from memory (hold.watched-silence). */
export class HoldTerm implements Term {
  private readonly clocks: TermClocks;
  private monotonicAt: number;
  private wallAt: number;
  private readonly waiting = new Set<WaitingRead>();

  constructor(clocks: TermClocks) {
    this.clocks = clocks;
    this.monotonicAt = Number.NEGATIVE_INFINITY;
    this.wallAt = Number.NEGATIVE_INFINITY;
  }

  /** Remembers when a renewal is sent. Call the result once it was answered. */
  sending(): () => void {
    const [monotonic, wall] = [this.clocks.monotonic(), this.clocks.wall()];
    return () => {
      this.monotonicAt = monotonic;
      this.wallAt = wall;
      if (this.isOver()) return;
      for (const each of this.taken()) each.release();
    };
  }

  /** A wall clock that is set back says nothing; one that is set ahead ends the term early. */
  isOver(): boolean {
    const passed = Math.max(
      this.clocks.monotonic() - this.monotonicAt,
      this.clocks.wall() - this.wallAt,
    );
    return passed >= TERM_MS;
  }

  whenRenewed(release: () => void, drop: (cause: Error) => void): void {
    const timer = setTimeout(() => {
      this.waiting.delete(read);
      drop(new TermOverError('the database does not answer; this server may not be the owner'));
    }, RENEWAL_WAIT_MS);
    const read = { release, drop, timer };
    this.waiting.add(read);
  }

  /** The hold is lost. */
  end(cause: Error): void {
    this.monotonicAt = Number.NEGATIVE_INFINITY;
    const isOver = new TermOverError('this server is no longer the owner', { cause });
    for (const each of this.taken()) each.drop(isOver);
  }

  private taken(): WaitingRead[] {
    const all = [...this.waiting];
    this.waiting.clear();
    for (const { timer } of all) clearTimeout(timer);
    return all;
  }
}
