import { DueHeap } from './due-heap.ts';

/** A delivery to try. */
export interface Planned {
  readonly number: number;
  /** Number of the task. The next delivery of a task is tried when the one before is finished. */
  readonly task: number;
  /** The receiver's host. A slow host must not delay other hosts. */
  readonly host: string;
  readonly nextAt: number;
}

/** Deliveries for one host that may be tried now, and how many are under way. */
interface Lane {
  readonly host: string;
  readonly due: Set<Planned>;
  active: number;
}

/** Pending deliveries of one task, oldest first. */
interface Chain {
  readonly all: Planned[];
  active: Planned | undefined;
}

/** Maximum number of failing hosts remembered. Further ones are treated as working. */
const FAILING_MAX = 10_000;

/**
 * Pending deliveries, and their order.
 *
 * callbacks.oldest-first: Only the oldest delivery of a task is tried, so its receiver gets changes
 *   in order.
 * callbacks.fair-hosts: Hosts take turns, and each has a limit, so a slow host delays no other.
 *   After a failure a host gets one try at a time until it accepts a delivery, so that many dead
 *   hosts do not occupy all the slots.
 * callbacks.not-early: Nothing is tried before its time.
 */
export class DeliveryLanes {
  private readonly perHostMax: number;
  private readonly chains = new Map<number, Chain>();
  /** Hosts with a delivery that is due or under way. */
  private readonly lanes = new Map<string, Lane>();
  /** Lanes with a delivery that may be tried, in the order of their turns. */
  private readonly turns = new Set<Lane>();
  private readonly later = new DueHeap<Planned>();
  /** Hosts whose last try failed. */
  private readonly failing = new Set<string>();

  constructor(perHostMax: number) {
    this.perHostMax = perHostMax;
  }

  /** When the next waiting delivery becomes due; infinite when none waits. */
  get nextAt(): number {
    return this.later.nextAt;
  }

  /** Adds a delivery. If it is there already, it gets the new time. */
  add(planned: Planned): void {
    const chain = this.chains.get(planned.task) ?? { all: [], active: undefined };
    this.chains.set(planned.task, chain);
    const { all } = chain;
    if (chain.active?.number === planned.number) return;
    const known = all.findIndex(({ number }) => number === planned.number);
    if (known >= 0) all.splice(known, 1);
    const place = all.findIndex(({ number }) => number > planned.number);
    all.splice(place < 0 ? all.length : place, 0, planned);
    if (all[0] === planned) this.plan(chain);
  }

  /** The next delivery to try. It is under way until `finish` is called with it. */
  take(now: number): Planned | undefined {
    for (let due = this.later.take(now); due !== undefined; due = this.later.take(now)) {
      if (this.isNext(due)) this.enqueue(due);
    }
    for (const lane of this.turns) {
      this.turns.delete(lane);
      const planned = this.firstOf(lane);
      if (planned !== undefined) {
        lane.active += 1;
        this.chainOf(planned).active = planned;
      }
      this.settle(lane);
      if (planned !== undefined) return planned;
    }
    return undefined;
  }

  /** A try is over. The delivery is tried again at `nextAt`, or not at all. */
  finish(planned: Planned, nextAt?: number): void {
    const chain = this.chainOf(planned);
    chain.active = undefined;
    chain.all.splice(chain.all.indexOf(planned), 1);
    if (nextAt !== undefined) chain.all.unshift({ ...planned, nextAt });
    this.remember(planned.host, nextAt !== undefined);
    const lane = this.laneOf(planned.host);
    lane.active -= 1;
    this.settle(lane);
    if (chain.all.length === 0) this.chains.delete(planned.task);
    else this.plan(chain);
  }

  /** The oldest delivery of a task waits for its time, then for its turn. */
  private plan({ all, active }: Chain): void {
    if (active === undefined) this.later.add(all[0]);
  }

  private enqueue(planned: Planned): void {
    const lane = this.laneOf(planned.host);
    lane.due.add(planned);
    this.settle(lane);
  }

  /** Skips deliveries that are no longer the next one of their task. */
  private firstOf({ due }: Lane): Planned | undefined {
    for (const planned of due) {
      due.delete(planned);
      if (this.isNext(planned)) return planned;
    }
    return undefined;
  }

  private isNext(planned: Planned): boolean {
    const chain = this.chains.get(planned.task);
    return chain?.all[0] === planned && chain.active === undefined;
  }

  private settle(lane: Lane): void {
    const most = this.failing.has(lane.host) ? 1 : this.perHostMax;
    if (lane.due.size > 0 && lane.active < most) this.turns.add(lane);
    else this.turns.delete(lane);
    if (lane.due.size === 0 && lane.active === 0) this.lanes.delete(lane.host);
  }

  private remember(host: string, hasFailed: boolean): void {
    if (!hasFailed) this.failing.delete(host);
    else if (this.failing.size < FAILING_MAX) this.failing.add(host);
  }

  private laneOf(host: string): Lane {
    const known = this.lanes.get(host);
    if (known !== undefined) return known;
    const lane = { host, due: new Set<Planned>(), active: 0 };
    this.lanes.set(host, lane);
    return lane;
  }

  private chainOf({ task }: Planned): Chain {
    return this.chains.get(task) as Chain;
  }
}
