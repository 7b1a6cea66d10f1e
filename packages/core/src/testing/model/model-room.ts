import type { SessionId } from '../../base/ids.ts';
import type { Resources } from '../../task/resources.ts';
import type { OfferedType } from '../../workers/roster.ts';

/** What a worker offered, and its current condition. */
export interface ModelWorker {
  readonly id: SessionId;
  types: readonly OfferedType[];
  capacity: Resources & { readonly slots: number };
  labels: ReadonlyMap<string, string>;
  connected: boolean;
  draining: boolean;
  /** Tasks that it refused, and when each refusal ends. */
  refused: Map<number, number>;
  /** Bytes that were pushed and not read yet. */
  unsentBytes: number;
}

/** What a task requires. */
export interface ModelNeed {
  readonly number: number;
  readonly type: string;
  readonly resources: Resources;
  readonly constraints: readonly string[];
}

/** A worker with this many recent refusals gets no tasks. */
const REFUSALS_MAX = 100;

/** The free room of a worker beside its leases. */
export class ModelRoom {
  private readonly worker: ModelWorker;
  /** Number of running tasks by type. */
  private readonly running = new Map<string, number>();
  /** Used amount by kind, in thousandths. */
  private readonly used = new Map<string, number>();
  /** Whether every kind is used within the offer (matching.within-offer). */
  readonly isWithinOffer: boolean;

  private readonly unsentBytesMax: number;

  constructor(worker: ModelWorker, held: readonly ModelNeed[], unsentBytesMax: number) {
    this.worker = worker;
    this.unsentBytesMax = unsentBytesMax;
    for (const { type, resources } of held) {
      this.running.set(type, (this.running.get(type) ?? 0) + 1);
      for (const [kind, amount] of amounts(resources)) {
        this.used.set(kind, (this.used.get(kind) ?? 0) + amount);
      }
    }
    this.isWithinOffer = [...this.used].every(
      ([kind, amount]) => amount <= offered(worker.capacity, kind),
    );
  }

  /** Whether the worker may get any task now. */
  isOpen(now: number): boolean {
    const { connected, draining, refused, unsentBytes } = this.worker;
    if (!connected || draining || !this.isWithinOffer) return false;
    if (unsentBytes >= this.unsentBytesMax) return false;
    if (refused.size < REFUSALS_MAX) return true;
    return [...refused.values()].filter((until) => until > now).length < REFUSALS_MAX;
  }

  /** Whether the worker may get the task now, ignoring reservations. */
  takes(task: ModelNeed, now: number): boolean {
    if (!this.isOpen(now) || (this.worker.refused.get(task.number) ?? 0) > now) return false;
    if (!this.hasTypeLeft(task) || !suits(this.worker, task)) return false;
    return amounts(task.resources).every(
      ([kind, amount]) =>
        (this.used.get(kind) ?? 0) + amount <= offered(this.worker.capacity, kind),
    );
  }

  hasTypeLeft({ type }: ModelNeed): boolean {
    const found = this.worker.types.find((each) => each.type === type);
    if (found === undefined || found.unavailable !== undefined) return false;
    return (this.running.get(type) ?? 0) < (found.concurrency ?? Number.POSITIVE_INFINITY);
  }
}

/** Whether the worker could run the task if it held no leases. */
export function couldRun(worker: ModelWorker, task: ModelNeed): boolean {
  const willing = { ...worker, connected: true, draining: false, refused: new Map() };
  return new ModelRoom(willing, [], Number.POSITIVE_INFINITY).takes(task, 0);
}

function offered(capacity: Resources, kind: string): number {
  const isOpen = ['cpu', 'memoryMb', 'diskMb'].includes(kind);
  const stated = amounts(capacity).find(([name]) => name === kind)?.[1];
  return stated ?? (isOpen ? Number.POSITIVE_INFINITY : 0);
}

const AMOUNTS = new WeakMap<Resources, [string, number][]>();

/** Amounts in thousandths, custom kinds beside the others; computed once per object. */
function amounts(resources: Resources): [string, number][] {
  const known = AMOUNTS.get(resources);
  if (known !== undefined) return known;
  const { custom = {}, ...others } = resources;
  const all = Object.entries({ slots: 1, ...others, ...custom });
  const listed = all.map(([kind, n]): [string, number] => [kind, Math.round(n * 1000)]);
  AMOUNTS.set(resources, listed);
  return listed;
}

function suits({ labels }: ModelWorker, { constraints }: ModelNeed): boolean {
  return constraints.every((text) => holds(text, labels));
}

/** Supports only the plain spelling, with one space between words. */
function holds(text: string, labels: ReadonlyMap<string, string>): boolean {
  const [label, ...words] = text.split(' ');
  if (label === 'exists') return labels.has(words[0]);
  const isNegated = words[0] === '!=' || words[0] === 'not';
  const values = words.map((word) => word.replace(/[(),]/g, ''));
  return values.includes(labels.get(label) ?? '(none)') !== isNegated;
}
