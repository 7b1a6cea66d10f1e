import type { TaskNumber } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { Archive } from '../structures/archive.ts';

/** One state change of a task to be delivered, until it is delivered or dropped. */
export interface Delivery {
  /** Counts up from 1. */
  readonly number: number;
  readonly task: TaskNumber;
  readonly submittedAt: number;
  /** Index of the task's queue, which has the type and the namespace. */
  readonly queue: number;
  /** Index of the interned callback, held as long as the delivery exists. */
  readonly callback: number;
  /** Number of the state that the task entered, and the time of the change. */
  readonly state: number;
  readonly at: number;
  /** Failed tries since the first try or the last redelivery. */
  readonly tries: number;
  /** When the first of these tries failed; 0 without one. */
  readonly firstFailedAt: number;
  /** When the next try is due; meaningless once the delivery is given up. */
  readonly nextAt: number;
  /** Number of the last try's failure, and its HTTP status; 0 without one. */
  readonly failure: number;
  readonly status: number;
  /** When it was given up; 0 while it is pending. */
  readonly givenUpAt: number;
}

type MutableDelivery = { -readonly [K in keyof Delivery]: Delivery[K] };

/** The fields of a new delivery. */
export type NewDelivery = Pick<
  Delivery,
  'task' | 'submittedAt' | 'queue' | 'callback' | 'state' | 'at'
>;

interface FailedTry extends Pick<Delivery, 'failure' | 'status' | 'nextAt'> {
  readonly at: number;
}

/** Read-only view for code outside `apply`. */
export interface OutboxReader {
  readonly next: number;
  readonly pendingCount: number;
  readonly givenUpCount: number;
  readonly bytes: number;
  readonly dropped: number;
  get(number: number): Delivery | undefined;
  /** In the order of their numbers, except for redelivered ones. */
  pending(): Iterable<Delivery>;
  /** In the order in which they were given up. */
  givenUp(): Iterable<Delivery>;
}

/** Measured: a delivery here, and what the server remembers to deliver it (L9). */
const DELIVERY_BYTES = 600;

/**
 * Deliveries of state changes to callbacks.
 *
 * Deliveries follow from the events of tasks: each subscribed state change creates one delivery in
 * the same event. When and how a delivery is tried is decided outside the core.
 */
export class Outbox implements OutboxReader {
  next = 1;
  /** One above the last number that was used. After a restore, `next` is higher. */
  end = 0;
  /** Number of deliveries that were given up and then forgotten because there were too many. */
  dropped = 0;
  /** Hash of all changes here, so that replays can be compared (L3). */
  digest = 0;
  private readonly open = new Map<number, MutableDelivery>();
  private readonly closed = new Map<number, MutableDelivery>();

  get pendingCount(): number {
    return this.open.size;
  }

  get givenUpCount(): number {
    return this.closed.size;
  }

  get bytes(): number {
    return DELIVERY_BYTES * (this.open.size + this.closed.size);
  }

  get(number: number): Delivery | undefined {
    return this.open.get(number) ?? this.closed.get(number);
  }

  pending(): Iterable<Delivery> {
    return this.open.values();
  }

  givenUp(): Iterable<Delivery> {
    return this.closed.values();
  }

  add(delivery: NewDelivery): void {
    const number = this.next++;
    const fresh = { tries: 0, firstFailedAt: 0, failure: 0, status: 0, givenUpAt: 0 };
    this.open.set(number, { number, ...delivery, ...fresh, nextAt: delivery.at });
    this.note(number, delivery.at);
    this.end = this.next;
  }

  /** Numbers from before a restore are not used again. */
  skipTo(number: number): void {
    this.next = number;
    this.note(number, 0);
  }

  fail(number: number, { failure, status, nextAt, at }: FailedTry): void {
    const delivery = this.mustFind(number);
    delivery.tries += 1;
    if (delivery.firstFailedAt === 0) delivery.firstFailedAt = at;
    Object.assign(delivery, { failure, status, nextAt });
    this.note(number, nextAt);
    if (nextAt > 0) return;
    delivery.givenUpAt = at;
    this.open.delete(number);
    this.closed.set(number, delivery);
  }

  redeliver(number: number, at: number): void {
    const delivery = this.mustFind(number);
    Object.assign(delivery, { tries: 0, firstFailedAt: 0, nextAt: at, givenUpAt: 0 });
    this.note(number, at);
    if (this.closed.delete(number)) this.open.set(number, delivery);
  }

  /** Removes a delivery that was delivered or dropped, and returns it. */
  remove(number: number): Delivery {
    const delivery = this.mustFind(number);
    this.open.delete(number);
    this.closed.delete(number);
    this.note(number, 0);
    return delivery;
  }

  persist(archive: Archive): void {
    this.next = archive.number('next', this.next);
    this.dropped = archive.number('dropped', this.dropped);
    this.digest = archive.number('digest', this.digest);
    this.persistOne(archive, 'pending', this.open);
    this.persistOne(archive, 'givenUp', this.closed);
  }

  private persistOne(
    archive: Archive,
    name: string,
    deliveries: Map<number, MutableDelivery>,
  ): void {
    const figures = archive.numbers(
      name,
      [...deliveries.values()].flatMap((delivery) => FIELDS.map((field) => delivery[field])),
    );
    if (!archive.isLoading) return;
    for (let start = 0; start < figures.length; start += FIELDS.length) {
      const values = FIELDS.map((field, place) => [field, figures[start + place]]);
      deliveries.set(figures[start], Object.fromEntries(values) as MutableDelivery);
    }
  }

  private mustFind(number: number): MutableDelivery {
    const delivery = this.open.get(number) ?? this.closed.get(number);
    invariant(delivery !== undefined, 'an event finds its delivery in the outbox');
    return delivery;
  }

  private note(number: number, value: number): void {
    for (const each of [number, value]) {
      const word = (each % 2 ** 32) ^ Math.floor(each / 2 ** 32);
      this.digest = Math.imul(this.digest ^ word, 0x9e3779b1) >>> 0;
    }
  }
}

/** The number comes first. */
const FIELDS = [
  'number',
  'task',
  'submittedAt',
  'queue',
  'callback',
  'state',
  'at',
  'tries',
  'firstFailedAt',
  'nextAt',
  'failure',
  'status',
  'givenUpAt',
] as const satisfies readonly (keyof Delivery)[];
