import { DueHeap } from './due-heap.ts';

/** A delivery that is to be tried. */
export interface Planned {
  readonly number: number;
  /** Number of the task: of one task the next is tried when the one before is done with. */
  readonly task: number;
  /** Where it goes, as far as one receiver may hold up another. */
  readonly host: string;
  readonly nextAt: number;
}

/** Everything for one host that may be tried now, and how much of it is. */
interface Lane {
  readonly host: string;
  readonly due: Set<Planned>;
  active: number;
}

/** What is owed for one task, oldest first. */
interface Chain {
  readonly all: Planned[];
  active: Planned | undefined;
}

/** Beyond so many the others are treated as if they worked. */
const FAILING_MAX = 10_000;

/**
 * What is to be delivered, and in which order.
 *
 * D2 Of one task only the oldest is tried, so that its receiver hears of changes in order.
 * D3 Hosts take turns, and each has a bound: one that is slow holds up nobody else. After a failure
 *    it is one at a time until the host takes something, so that many dead hosts do not fill all
 *    the places that there are.
 * D4 Nothing is tried before its time.
 */
export class DeliveryLanes {
  private readonly perHostMax: number;
  private readonly chains = new Map<number, Chain>();
  /** Those that have something due or under way. */
  private readonly lanes = new Map<string, Lane>();
  /** Lanes that may give something out, in the order of their turns. */
  private readonly turns = new Set<Lane>();
  private readonly later = new DueHeap<Planned>();
  /** Hosts that did not take what was last tried there. */
  private readonly failing = new Set<string>();

  constructor(perHostMax: number) {
    this.perHostMax = perHostMax;
  }

  /** When something that waits for its time may be tried; infinite when nothing does. */
  get nextAt(): number {
    return this.later.nextAt;
  }

  /** Takes one on; one that is there already has a new time. */
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

  /** The next one to try; it is under way until `finish` hears of it. */
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

  /** A try is over: it is tried again at `nextAt`, or never. */
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

  /** The oldest of a task waits for its time, and its turn. */
  private plan({ all, active }: Chain): void {
    if (active === undefined) this.later.add(all[0]);
  }

  private enqueue(planned: Planned): void {
    const lane = this.laneOf(planned.host);
    lane.due.add(planned);
    this.settle(lane);
  }

  /** What was put aside meanwhile, or overtaken by an older one, is passed over. */
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
