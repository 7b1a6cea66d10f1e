import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldStore, type HoldView, type StoreAddress } from '@sluice/postgres';
import { HOLD_MS, LOOK_MS, RENEW_MS } from '../membership/hold-rules.ts';

/** A hold that nobody renews is over after this time; a busy database may take a little longer. */
const WATCH_MS_MAX = 2 * HOLD_MS;

/** Keeps servers away from a store for as long as a command works on it. */
export class StoreClaim {
  readonly epoch: number;
  private readonly hold: HoldStore;
  private readonly timer: NodeJS.Timeout;
  /** The renewal under way. */
  private renewing: Promise<void> = Promise.resolve();
  private isLost = false;

  private constructor(hold: HoldStore, epoch: number) {
    this.hold = hold;
    this.epoch = epoch;
    this.timer = setInterval(() => {
      this.renewing = this.renewing.then(() => this.renew());
    }, RENEW_MS);
  }

  /** Waits until the hold of a process that was killed is over. Rejects when a server runs. */
  static async take(address: StoreAddress): Promise<StoreClaim> {
    const hold = new HoldStore(address, randomUUID());
    try {
      const seen = await untilFree(hold);
      const epoch = await hold.claim(seen, '', seen.runId === undefined);
      if (epoch === undefined) throw inUse(address);
      // Shows servers that this process lives; without it they wait for the hold to run out.
      await hold.tryLock();
      return new StoreClaim(hold, epoch);
    } catch (cause) {
      await hold.close();
      throw cause instanceof StillHeld ? inUse(address) : cause;
    }
  }

  /** Rejects when another process has claimed the store. */
  async check(): Promise<void> {
    await this.renewing;
    await this.renew();
    if (this.isLost) throw new Error('a server has claimed the store meanwhile; stop it');
  }

  /** Never rejects: a claim that is not released runs out. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.renewing;
    await this.hold.release(this.epoch).catch(() => undefined);
    await this.hold.close().catch(() => undefined);
  }

  private async renew(): Promise<void> {
    try {
      if ((await this.hold.renew(this.epoch)) === undefined) this.isLost = true;
      else await this.hold.tryLock();
    } catch {
      // The database is away. The next renewal, or the next append, finds out.
    }
  }
}

class StillHeld extends Error {}

/** A hold that is renewed while it is watched belongs to a process that lives. */
async function untilFree(hold: HoldStore): Promise<HoldView> {
  const first = await hold.look();
  for (let seen = first, waitedMs = 0; ; seen = await hold.look(), waitedMs += LOOK_MS) {
    if (seen.runId === undefined || seen.isExpired) return seen;
    const isRenewed = seen.renewals !== first.renewals || seen.epoch !== first.epoch;
    if (isRenewed || waitedMs > WATCH_MS_MAX) throw new StillHeld();
    await sleep(LOOK_MS);
  }
}

function inUse({ shown }: StoreAddress): Error {
  return new Error(`a server or another command works on ${shown}; stop all its servers first`);
}
