import {
  type PartitionReader,
  PRIORITY_LEVELS,
  queueKey,
  type ReadonlyQueue,
  type ReadonlyState,
  RUN_DELIVERIES,
  taskTypeOf,
} from '@sluice/core';
import type { QueueRates } from './queue-rates.ts';

/** Workers and leases of a type. */
interface Handling {
  workers: number;
  leased: number;
}

interface Look {
  readonly namespace: string;
  readonly rates: QueueRates;
  readonly now: number;
}

/** Shows the queues of a namespace at one moment. */
export class QueueViews {
  private readonly state: ReadonlyState;
  private readonly namespace: string;
  private readonly rates: QueueRates;
  private readonly now: number;
  private readonly handling = new Map<string, Handling>();

  constructor(state: ReadonlyState, partition: PartitionReader, { namespace, rates, now }: Look) {
    this.state = state;
    this.namespace = namespace;
    this.rates = rates;
    this.now = now;
    for (const { connected, types, ...session } of partition.sessions()) {
      if (session.namespace !== namespace) continue;
      for (const { type, leased } of types) {
        const known = this.handling.get(type) ?? { workers: 0, leased: 0 };
        this.handling.set(type, known);
        known.workers += connected ? 1 : 0;
        known.leased += leased;
      }
    }
  }

  /** A type that only workers registered has a queue, too: an empty one. */
  types(): string[] {
    const known = this.state.queues.filter(
      ({ namespace, isFree, key }) =>
        !isFree && namespace === this.namespace && taskTypeOf(key) !== RUN_DELIVERIES,
    );
    return [...new Set([...known.map(({ taskType }) => taskType), ...this.handling.keys()])];
  }

  one(type: string): object {
    const queue = this.state.queueOf(queueKey(this.namespace, type));
    const { workers = 0, leased = 0 } = this.handling.get(type) ?? {};
    const levels = Array.from({ length: PRIORITY_LEVELS }, (_, level) => level);
    const rates = queue === undefined ? NO_RATES : this.rates.perSecond(queue.index);
    return {
      type,
      paused: queue?.paused ?? false,
      depth: queue?.depth ?? 0,
      depthByPriority: levels.map((level) => queue?.depthOf(level) ?? 0),
      oldestAgeMs: queue === undefined ? null : oldestAgeMs(this.state, queue, this.now),
      leased,
      deadLetters: queue === undefined ? 0 : this.state.deadLetters.countOfQueue(queue.index),
      ...rates,
      workers,
    };
  }
}

/**
 * How long the oldest task of a queue has waited; null when the queue is empty. The first task of
 * each lane has waited longest there, unless it was put back at the head.
 */
export function oldestAgeMs(
  { tasks }: ReadonlyState,
  { open }: ReadonlyQueue,
  now: number,
): number | null {
  if (open.length === 0) return null;
  let since = Number.POSITIVE_INFINITY;
  for (const { head } of open) since = Math.min(since, tasks.dueAt[head]);
  return Math.max(0, Math.round(now - since));
}

const NO_RATES = { inPerSec: 0, outPerSec: 0 };
