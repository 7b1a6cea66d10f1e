import type { Capacity, PushedTask } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';

/** A worker that does not state these has an unlimited amount. Of all other kinds it has none. */
const UNLIMITED = ['cpu', 'memoryMb', 'diskMb'];

/** What one handler needs. */
export interface Needs {
  readonly type: string;
  /** By kind, in thousandths. */
  readonly amounts: readonly Amount[];
}

interface Amount {
  readonly kind: string;
  readonly thousandths: number;
}

/**
 * The resources that the handlers of a worker use. A handler whose lease is lost still uses
 * resources until it ends, which the server cannot know.
 *
 * Sums are in whole thousandths, so a worker that got everything back is exactly empty.
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

  fits({ type, amounts }: Needs): boolean {
    const atOnce = this.concurrency.get(type) ?? 0;
    if ((this.running.get(type) ?? 0) >= atOnce) return false;
    return amounts.every(({ kind, thousandths }) => {
      return (this.used.get(kind) ?? 0) + thousandths <= this.has(kind);
    });
  }

  take(needs: Needs): void {
    this.use(needs, 1);
  }

  giveBack(needs: Needs): void {
    this.use(needs, -1);
  }

  private has(kind: string): number {
    return this.total.get(kind) ?? (UNLIMITED.includes(kind) ? Number.POSITIVE_INFINITY : 0);
  }

  private use({ type, amounts }: Needs, sign: 1 | -1): void {
    this.running.set(type, (this.running.get(type) ?? 0) + sign);
    for (const { kind, thousandths } of amounts) {
      this.used.set(kind, (this.used.get(kind) ?? 0) + sign * thousandths);
    }
  }
}

export function needsOf({ type, resources }: PushedTask): Needs {
  return { type, amounts: amountsOf(resources) };
}

function totalOf(capacity: Capacity): ReadonlyMap<string, number> {
  const amounts = amountsOf({ slots: LIMITS.slotsDefault, ...capacity });
  return new Map(amounts.map(({ kind, thousandths }) => [kind, thousandths]));
}

function amountsOf(resources: PushedTask['resources']): Amount[] {
  const amounts: Amount[] = [];
  for (const kind in resources) {
    if (kind === 'custom') continue;
    const amount = resources[kind as keyof typeof resources] as number;
    amounts.push({ kind, thousandths: Math.round(amount * 1000) });
  }
  // The prefix keeps custom kinds distinct from the built-in ones.
  for (const [name, amount] of Object.entries(resources.custom ?? {})) {
    amounts.push({ kind: `custom ${name}`, thousandths: Math.round(amount * 1000) });
  }
  return amounts;
}
