import { currentScope, type HandlerScope, inScope } from './handler-scopes.ts';

/** As in Node: a delay outside these bounds is 1 ms. */
const DELAY_MS_MAX = 2 ** 31 - 1;

/** Ids of real timers are small. */
const FIRST_ID = 2 ** 40;

/** The real timer, even while the global one is replaced. */
const startRealTimer = setTimeout;

let lastId = FIRST_ID;

/** A timer of a handler on the virtual clock, with the methods of a timer of Node. */
export class VirtualTimer {
  readonly id: number;
  readonly isInterval: boolean;
  readonly scope: HandlerScope;
  readonly call: () => unknown;
  readonly delayMs: number;
  dueAt: number;
  private readonly owner: VirtualTimers;
  private isReferenced = true;

  constructor(owner: VirtualTimers, given: TimerRequest, scope: HandlerScope) {
    lastId += 1;
    this.id = lastId;
    this.owner = owner;
    this.scope = scope;
    this.call = given.call;
    this.isInterval = given.isInterval ?? false;
    const delayMs = Math.trunc(Number(given.delayMs));
    this.delayMs = delayMs >= 1 && delayMs <= DELAY_MS_MAX ? delayMs : 1;
    this.dueAt = owner.now() + this.delayMs;
  }

  ref(): this {
    this.isReferenced = true;
    return this;
  }

  unref(): this {
    this.isReferenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.isReferenced;
  }

  refresh(): this {
    this.owner.restart(this);
    return this;
  }

  close(): this {
    this.owner.cancel(this);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export interface TimerRequest {
  readonly call: () => unknown;
  /** As the handler gave it. */
  readonly delayMs: unknown;
  readonly isInterval?: boolean;
}

/** The timers of the handlers of one server, on its virtual clock. */
export class VirtualTimers {
  readonly now: () => number;
  private readonly pending = new Map<number, VirtualTimer>();
  private readonly onChange: () => void;

  constructor(now: () => number, onChange: () => void) {
    this.now = now;
    this.onChange = onChange;
  }

  get size(): number {
    return this.pending.size;
  }

  /** Due time of the next timer; infinite when there is none. */
  get nextAt(): number {
    return this.first?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  start(request: TimerRequest): VirtualTimer {
    const timer = new VirtualTimer(this, request, currentScope() as HandlerScope);
    this.restart(timer);
    return timer;
  }

  restart(timer: VirtualTimer): void {
    timer.dueAt = this.now() + timer.delayMs;
    this.pending.set(timer.id, timer);
    this.onChange();
  }

  cancel(timer: VirtualTimer): void {
    this.pending.delete(timer.id);
    this.onChange();
  }

  find(id: number): VirtualTimer | undefined {
    return this.pending.get(id);
  }

  has(test: (timer: VirtualTimer) => boolean): boolean {
    return [...this.pending.values()].some(test);
  }

  /** Fires one timer that is due. Its promises settle before the next one fires, as in Node. */
  fireOne(): boolean {
    const timer = this.first;
    if (timer === undefined || timer.dueAt > this.now()) return false;
    if (timer.isInterval) timer.dueAt = this.now() + timer.delayMs;
    else this.pending.delete(timer.id);
    try {
      inScope(timer.scope, timer.call);
    } catch (cause) {
      // Nobody catches it, as in production.
      startRealTimer(() => {
        throw cause;
      }, 0);
    }
    this.onChange();
    return true;
  }

  /** In order of due time, then of start. */
  private get first(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const timer of this.pending.values()) {
      if (first === undefined || timer.dueAt < first.dueAt) first = timer;
    }
    return first;
  }
}
