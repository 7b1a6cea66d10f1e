import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldStore, HoldView, ServerView } from '@sluice/postgres';
import type { ServerRole } from '@sluice/protocol';
import type { OwnerPlace } from '../forwarding/peer.ts';
import { HOP_HEADER } from '../http/hop.ts';
import { HOLD_MS, HoldTerm, HoldWatch, LOOK_MS, LOOK_SOON_MS, RENEW_MS } from './hold-rules.ts';
import { askRole, isGone } from './owner-probe.ts';
import { SuccessorWatch } from './successor-watch.ts';

export interface MembershipOptions {
  readonly store: HoldStore;
  readonly runId: string;
  /** By which other servers reach this one. */
  readonly url: string;
  readonly version: string;
  /** The newest level that this version knows. */
  readonly newestLevel: number;
  /** Records that this server knows to be committed, and since which accepted loss. */
  readonly position: () => number;
  readonly generation: () => string;
  /** Whether this server could take over now (it has caught up). */
  readonly isReady: () => boolean;
  /** What shows another server that this one speaks. */
  readonly hop: () => string;
  /** The partition is this server's. It resolves when the server answers. */
  readonly onClaimed: (epoch: number) => Promise<void>;
  /** Another server has the partition, or nobody knows whether. */
  readonly onLost: (cause: Error) => void;
  /** An operator wants another server to take over. */
  readonly onHandOff: () => void;
  /** Nothing above this level may be written. Called whenever it was seen, before any claim. */
  readonly onLevel: (level: number) => void;
  readonly onTrouble: (cause: Error | undefined) => void;
}

/** A server that has let go leaves the partition to others for this long, at most. */
const REFRAIN_MS = 3_000;

/** A server that was seen longer ago may be gone. */
const SEEN_MS_MAX = 5_000;

/** A server that takes longer lets go, so that another one can try. */
const TAKEOVER_MS_MAX = 60_000;

/** How often a server says that it is there. */
const BEAT_MS = 1_000;

/** How often an owner looks which other servers there are. */
const OTHERS_MS = 5_000;

/**
 * Watches the hold of the partition: renews it while this server has it, claims it when it may.
 * The epoch alone decides whether an append lands; this only says who tries.
 */
export class Membership {
  readonly term = new HoldTerm({ monotonic: () => performance.now(), wall: Date.now });
  private readonly options: MembershipOptions;
  private watch = new HoldWatch();
  /** Undefined while this server does not hold the partition. */
  private epoch: number | undefined;
  private place: OwnerPlace | undefined;
  /** The database's clock minus the monotonic clock of this process. */
  private clockOffset: number | undefined;
  /** Until then others go first. */
  private refrainUntil = 0;
  private beatAt = Number.NEGATIVE_INFINITY;
  /** The servers of the cluster as last seen, and when that was. */
  private seen: readonly ServerView[] = [];
  private seenAt = Number.NEGATIVE_INFINITY;
  /** Runs while this server holds the partition. */
  private successors: SuccessorWatch | undefined;
  private isClosed = false;
  private wake: () => void = () => undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(options: MembershipOptions) {
    this.options = options;
  }

  get owner(): OwnerPlace | undefined {
    return this.place;
  }

  get isOwner(): boolean {
    return this.epoch !== undefined;
  }

  /** What this server says of itself. */
  get role(): ServerRole {
    const { epoch, options } = this;
    const { runId } = options;
    return epoch === undefined ? { runId, role: 'standby' } : { runId, role: 'owner', epoch };
  }

  /** The database's time, so that a server with a wrong clock fires nothing early. */
  now(): number {
    return this.clockOffset === undefined ? Date.now() : performance.now() + this.clockOffset;
  }

  start(): void {
    this.running = this.run();
  }

  /** Looks at once: another server has let go of the partition, or is there for the first time. */
  nudge(): void {
    this.seenAt = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** Records that any server knows to be committed. A log with fewer went back in time. */
  async committed(): Promise<number> {
    const generation = this.options.generation();
    const servers = await this.servers();
    const known = servers.filter((server) => server.generation === generation);
    return Math.max(0, ...known.map(({ position }) => position));
  }

  /** Whether this server holds the partition with this epoch. */
  holds(epoch: number): boolean {
    return this.epoch === epoch;
  }

  /** Gives up the partition: others may claim it at once. The engine must have stopped. */
  async release(epoch: number): Promise<void> {
    if (this.epoch === epoch) {
      this.epoch = undefined;
      this.place = undefined;
      this.refrainUntil = performance.now() + REFRAIN_MS;
      this.successors?.stop();
      this.term.end(new Error('this server released the partition'));
    }
    await this.options.store.release(epoch);
    // Requests are held until this server knows who went next.
    this.wake();
    await this.tellOthers().catch(() => undefined);
  }

  /** Others need not wait for their next look. */
  private async tellOthers(): Promise<void> {
    for (const { runId, address, seenMsAgo } of await this.servers()) {
      if (runId !== this.options.runId && seenMsAgo < SEEN_MS_MAX) this.tell(address);
    }
  }

  /** Makes the server at this address look at once. It need not answer. */
  private tell(address: string): void {
    void askRole(address, { [HOP_HEADER]: this.options.hop() }).catch(() => undefined);
  }

  private async servers(): Promise<readonly ServerView[]> {
    this.seen = await this.options.store.servers();
    this.seenAt = performance.now();
    return this.seen;
  }

  /** `isKept`: what this server knows to be committed stays there for the others. */
  async close({ isKept = false } = {}): Promise<void> {
    this.isClosed = true;
    this.wake();
    await this.running;
    this.successors?.stop();
    if (!isKept) await this.options.store.leave().catch(() => undefined);
    await this.options.store.close();
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      try {
        // Before the first look: whoever raises the level meanwhile knows of this server.
        await this.beat();
        if (this.epoch === undefined) await this.look();
        else await this.renew(this.epoch);
        this.options.onTrouble(undefined);
      } catch (cause) {
        this.options.onTrouble(cause as Error);
      }
      await this.pause(this.isOwner ? RENEW_MS : this.lookMs);
    }
  }

  /** Requests are held while there is no owner. */
  private get lookMs(): number {
    return this.place === undefined ? LOOK_SOON_MS : LOOK_MS;
  }

  private async look(): Promise<void> {
    const { store, runId, url, isReady } = this.options;
    const seen = await store.look();
    this.sawTime(seen);
    this.options.onLevel(seen.level);
    const isSilent = this.watch.saw(seen, performance.now());
    const place = placeOf(seen);
    // The owner has to know whom it can ask when it does not reach the database any more.
    if (place !== undefined && place.runId !== this.place?.runId) this.tell(place.url);
    this.place = place;
    const isFree = seen.runId === undefined || seen.runId === runId;
    // Another server went first. It may let go soon, too.
    if (!isFree) this.refrainUntil = 0;
    if (!isReady() || performance.now() < this.refrainUntil) return;
    if (!isSilent && !isFree && !(await this.isOwnerGone(seen))) return;
    await store.tryLock();
    const answered = this.term.sending();
    const epoch = await store.claim(seen, url, !isSilent);
    if (epoch === undefined) return;
    answered();
    this.epoch = epoch;
    this.place = { url, runId };
    this.watchSuccessors(epoch);
    // The hold is renewed while the partition is being taken over.
    void this.takeOver(epoch);
  }

  /** A server that others reach, and that does not reach the database, would keep its clients. */
  private watchSuccessors(epoch: number): void {
    const { runId } = this.options;
    this.successors?.stop();
    this.successors = new SuccessorWatch({
      epoch,
      isInDoubt: () => this.term.isOver(),
      others: () => this.seen.filter((server) => server.runId !== runId),
      onFound: (place) => {
        if (this.epoch !== epoch) return;
        this.lose(epoch, new Error('another server says that it took over'));
        this.place = place;
      },
    });
  }

  private async takeOver(epoch: number): Promise<void> {
    const deadline = new AbortController();
    const late = sleep(TAKEOVER_MS_MAX, undefined, { signal: deadline.signal }).then(() => {
      throw new Error('taking the partition over takes too long');
    });
    try {
      await Promise.race([this.options.onClaimed(epoch), late]);
    } catch (cause) {
      if (this.epoch !== epoch) return;
      this.lose(epoch, cause as Error);
      await this.release(epoch).catch(() => undefined);
    } finally {
      deadline.abort();
      late.catch(() => undefined);
    }
  }

  /** The lock is free, and the process at the address is another one, or there is none. */
  private async isOwnerGone({ address = '', runId = '' }: HoldView): Promise<boolean> {
    const { store } = this.options;
    if (!(await store.tryLock())) return false;
    if (await isGone(address, runId)) return true;
    await store.unlock();
    return false;
  }

  private async renew(epoch: number): Promise<void> {
    const answered = this.term.sending();
    const renewed = await this.options.store.renew(epoch);
    if (this.epoch !== epoch) return;
    if (renewed === undefined) return this.lose(epoch, new Error('another server took over'));
    answered();
    this.sawTime(renewed);
    this.options.onLevel(renewed.level);
    if (renewed.handOff) this.options.onHandOff();
    // After a lost connection another one has to get the lock.
    await this.options.store.tryLock();
    if (performance.now() - this.seenAt >= OTHERS_MS) await this.servers();
  }

  /** Called also when an append was fenced. A host of another epoch changes nothing. */
  lose(epoch: number, cause: Error): void {
    if (this.epoch !== epoch) return;
    this.epoch = undefined;
    this.place = undefined;
    this.successors?.stop();
    this.watch = new HoldWatch();
    this.term.end(cause);
    this.options.onLost(cause);
  }

  private async beat(): Promise<void> {
    if (performance.now() - this.beatAt < BEAT_MS) return;
    const { store, url: address, version, newestLevel: level, ...said } = this.options;
    const known = { position: said.position(), generation: said.generation(), level };
    await store.beat({ address, version, ...known });
    this.beatAt = performance.now();
  }

  private sawTime({ now }: HoldView): void {
    this.clockOffset = now - performance.now();
  }

  private pause(ms: number): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, HOLD_MS));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Undefined also while a command holds the partition: it has no address. */
function placeOf({ address = '', runId }: HoldView): OwnerPlace | undefined {
  return runId === undefined || !URL.canParse(address) ? undefined : { url: address, runId };
}
