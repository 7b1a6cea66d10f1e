import { type Constraint, holds, type Labels } from './constraints.ts';
import { amountsOf, type Resources, UNLIMITED_UNLESS_STATED } from './resources.ts';
import type { Shape } from './shape.ts';

/** What a worker offers in all. */
export type Offer = Resources & { readonly slots: number };

/** How much of one kind there is and is in use, in thousandths. */
interface Stock {
  offered: number;
  used: number;
}

/** A kind of which a shape needs more than there is; for people. */
export interface Lack {
  readonly name: string;
  readonly needed: number;
  readonly free: number;
  readonly offered: number;
}

/**
 * The room of one session: what it offers and what its leases use.
 *
 * R2 What is used is the sum of what the leases of the session need. It may exceed the offer when a
 *    worker came to offer less; then nothing fits, whatever its kind, until enough has been given
 *    back.
 */
export class Room {
  slots = 0;
  usedSlots = 0;
  labels: Labels = new Map();
  /** More of some kind is in use than is offered. */
  isOverdrawn = false;
  /** Kinds that are offered or in use; a kind that is in neither has no entry. */
  private readonly stocks = new Map<string, Stock>();

  constructor() {
    for (const name of UNLIMITED_UNLESS_STATED) this.stocks.set(name, stockOf(name));
  }

  /** The whole offer is replaced; what is in use stays in use. */
  offer(offer: Offer): void {
    this.slots = offer.slots;
    for (const [name, stock] of this.stocks) {
      stock.offered = stockOf(name).offered;
      if (stock.used === 0 && stock.offered === 0) this.stocks.delete(name);
    }
    const stated = amountsOf(offer);
    for (const { name, thousandths } of stated) this.stock(name).offered = thousandths;
    // A kind of which 0 is stated is stated all the same.
    for (const name of UNLIMITED_UNLESS_STATED) {
      if (offer[name as keyof Resources] === 0) this.stock(name).offered = 0;
    }
    this.isOverdrawn = this.usesMoreThanOffered();
  }

  take({ slots, needs }: Shape): void {
    this.usedSlots += slots;
    for (let i = 0; i < needs.length; i++) this.stock(needs[i].name).used += needs[i].thousandths;
  }

  giveBack({ slots, needs }: Shape): void {
    this.usedSlots -= slots;
    for (let i = 0; i < needs.length; i++) this.stock(needs[i].name).used -= needs[i].thousandths;
    if (this.isOverdrawn) this.isOverdrawn = this.usesMoreThanOffered();
  }

  /** These leases are all that it has. */
  count(shapes: Iterable<Shape>): void {
    this.usedSlots = 0;
    for (const stock of this.stocks.values()) stock.used = 0;
    for (const shape of shapes) this.take(shape);
    this.isOverdrawn = this.usesMoreThanOffered();
  }

  /** Whether the shape fits beside what is in use. */
  fits(shape: Shape): boolean {
    if (this.isOverdrawn || this.usedSlots + shape.slots > this.slots) return false;
    const { needs } = shape;
    for (let i = 0; i < needs.length; i++) {
      const stock = this.stocks.get(needs[i].name);
      if (stock === undefined || stock.used + needs[i].thousandths > stock.offered) return false;
    }
    return this.suits(shape);
  }

  /** Whether the shape fits once nothing is in use. */
  couldFit(shape: Shape): boolean {
    return this.beyond(shape) === undefined && this.suits(shape);
  }

  /** Whether the labels meet the constraints of the shape. */
  suits(shape: Shape): boolean {
    const { constraints } = shape;
    for (let i = 0; i < constraints.length; i++) {
      if (!holds(constraints[i], this.labels)) return false;
    }
    return true;
  }

  unmet(shape: Shape): readonly Constraint[] {
    return shape.constraints.filter((constraint) => !holds(constraint, this.labels));
  }

  /** Of which kind the shape needs more than is offered in all. */
  beyond(shape: Shape): Lack | undefined {
    return this.lacks(shape).find(({ needed, offered }) => needed > offered);
  }

  /** Of which kind the shape needs more than is free. */
  lacking(shape: Shape): Lack | undefined {
    return this.lacks(shape).find(({ needed, free }) => needed > free);
  }

  /** The largest share of any kind that would be in use with the shape added: how full it gets. */
  fullnessWith(shape: Shape): number {
    let fullness = (this.usedSlots + shape.slots) / this.slots;
    for (const [name, { used, offered }] of this.stocks) {
      const needed = shape.needs.find((need) => need.name === name)?.thousandths ?? 0;
      if (used + needed > 0) fullness = Math.max(fullness, (used + needed) / offered);
    }
    return fullness;
  }

  private usesMoreThanOffered(): boolean {
    if (this.usedSlots > this.slots) return true;
    for (const { used, offered } of this.stocks.values()) if (used > offered) return true;
    return false;
  }

  private lacks({ slots, needs }: Shape): Lack[] {
    const offeredSlots = this.slots * 1000;
    const freeSlots = (this.slots - this.usedSlots) * 1000;
    const lacks = [{ name: 'slots', needed: slots * 1000, free: freeSlots, offered: offeredSlots }];
    for (const { name, thousandths } of needs) {
      const { offered, used } = this.stocks.get(name) ?? stockOf(name);
      lacks.push({ name, needed: thousandths, free: offered - used, offered });
    }
    return lacks;
  }

  private stock(name: string): Stock {
    let stock = this.stocks.get(name);
    if (stock === undefined) {
      stock = stockOf(name);
      this.stocks.set(name, stock);
    }
    return stock;
  }
}

function stockOf(name: string): Stock {
  const offered = UNLIMITED_UNLESS_STATED.includes(name) ? Number.POSITIVE_INFINITY : 0;
  return { offered, used: 0 };
}
