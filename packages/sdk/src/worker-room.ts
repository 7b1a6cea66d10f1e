import type { Capacity, PushedTask } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';

type Resources = PushedTask['resources'];

/** Of these a worker that states nothing has any amount; of all others it has none. */
const UNLIMITED = ['cpu', 'memoryMb', 'diskMb'];

/**
 * What the handlers of a worker use of what it has. Also a handler whose lease is gone uses
 * something until it ends, which the server cannot know.
 *
 * Sums are in whole thousandths, so that a worker that has given everything back is exactly empty.
 */
export class WorkerRoom {
  private total: ReadonlyMap<string, number>;
  private readonly concurrency: ReadonlyMap<string, number>;
  private readonly used = new Map<string, number>();
  private readonly running = new Map<string, number>();

  constructor(
    capacity: Capacity,
    types: readonly { readonly type: string; readonly concurrency?: number }[],
  ) {
    this.total = totalOf(capacity);
    this.concurrency = new Map(
      types.map(({ type, concurrency = Number.POSITIVE_INFINITY }) => [type, concurrency]),
    );
  }

  change(capacity: Capacity): void {
    this.total = totalOf(capacity);
  }

  fits({ type, resources }: PushedTask): boolean {
    const atOnce = this.concurrency.get(type) ?? 0;
    if ((this.running.get(type) ?? 0) >= atOnce) return false;
    return amountsOf(resources).every(([kind, amount]) => {
      const none = UNLIMITED.includes(kind) ? Number.POSITIVE_INFINITY : 0;
      return (this.used.get(kind) ?? 0) + amount <= (this.total.get(kind) ?? none);
    });
  }

  take(task: PushedTask): void {
    this.use(task, 1);
  }

  giveBack(task: PushedTask): void {
    this.use(task, -1);
  }

  private use({ type, resources }: PushedTask, sign: 1 | -1): void {
    this.running.set(type, (this.running.get(type) ?? 0) + sign);
    for (const [kind, amount] of amountsOf(resources)) {
      this.used.set(kind, (this.used.get(kind) ?? 0) + sign * amount);
    }
  }
}

function totalOf(capacity: Capacity): ReadonlyMap<string, number> {
  return new Map(amountsOf({ slots: LIMITS.slotsDefault, ...capacity }));
}

/** By kind, in thousandths. A kind of somebody's own has a name that no other kind can have. */
function amountsOf({ custom = {}, ...plain }: Resources): [string, number][] {
  const own = Object.entries(custom).map(([name, amount]) => [`custom ${name}`, amount]);
  const all = [...Object.entries(plain), ...own] as [string, number | undefined][];
  return all.map(([kind, amount = 0]) => [kind, Math.round(amount * 1000)]);
}
