import { type Constraint, holds, type Labels } from './constraints.ts';
import { customOf, KINDS, offersOf, type Resources } from './resources.ts';
import type { Shape } from './shape.ts';

const SLOTS = KINDS.indexOf('slots');

/** What a worker offers in all. */
export type Offer = Resources & { readonly slots: number };

/** How much of a custom kind there is and is in use, in thousandths. */
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
  labels: Labels = new Map();
  /** More of some kind is in use than is offered. */
  isOverdrawn = false;
  private offered: Float64Array = new Float64Array(KINDS.length);
  private readonly used = new Float64Array(KINDS.length);
  /** Custom kinds that are offered or in use. */
  private readonly custom = new Map<string, Stock>();

  get hasSlot(): boolean {
    return !this.isOverdrawn && this.used[SLOTS] < this.offered[SLOTS];
  }

  /** The whole offer is replaced; what is in use stays in use. */
  offer(offer: Offer): void {
    this.offered = offersOf(offer);
    for (const [name, stock] of this.custom) {
      stock.offered = 0;
      if (stock.used === 0) this.custom.delete(name);
    }
    for (const { name, thousandths } of customOf(offer)) this.stock(name).offered = thousandths;
    this.isOverdrawn = this.usesMoreThanOffered();
  }

  take(shape: Shape): void {
    this.use(shape, 1);
  }

  giveBack(shape: Shape): void {
    this.use(shape, -1);
    if (this.isOverdrawn) this.isOverdrawn = this.usesMoreThanOffered();
  }

  /** These leases are all that it has. */
  count(shapes: Iterable<Shape>): void {
    this.used.fill(0);
    for (const stock of this.custom.values()) stock.used = 0;
    for (const shape of shapes) this.use(shape, 1);
    this.isOverdrawn = this.usesMoreThanOffered();
  }

  /** Whether the shape fits beside what is in use. */
  fits(shape: Shape): boolean {
    if (this.isOverdrawn) return false;
    const { needs, custom } = shape;
    for (let kind = 0; kind < needs.length; kind++) {
      if (this.used[kind] + needs[kind] > this.offered[kind]) return false;
    }
    for (let i = 0; i < custom.length; i++) {
      const stock = this.custom.get(custom[i].name);
      if (stock === undefined || stock.used + custom[i].thousandths > stock.offered) return false;
    }
    return this.suits(shape);
  }

  /** Whether the shape fits once nothing is in use. */
  couldFit(shape: Shape): boolean {
    return this.beyond(shape) === undefined && this.suits(shape);
  }

  /** Whether the labels meet the constraints of the shape. */
  suits({ constraints }: Shape): boolean {
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
  fullnessWith({ needs, custom }: Shape): number {
    let fullness = 0;
    for (let kind = 0; kind < needs.length; kind++) {
      const used = this.used[kind] + needs[kind];
      if (used > 0) fullness = Math.max(fullness, used / this.offered[kind]);
    }
    if (this.custom.size === 0) return fullness;
    for (const [name, { used, offered }] of this.custom) {
      const needed = custom.find((each) => each.name === name)?.thousandths ?? 0;
      if (used + needed > 0) fullness = Math.max(fullness, (used + needed) / offered);
    }
    return fullness;
  }

  private use({ needs, custom }: Shape, sign: 1 | -1): void {
    for (let kind = 0; kind < needs.length; kind++) this.used[kind] += sign * needs[kind];
    for (let i = 0; i < custom.length; i++) {
      this.stock(custom[i].name).used += sign * custom[i].thousandths;
    }
  }

  private usesMoreThanOffered(): boolean {
    for (let kind = 0; kind < this.used.length; kind++) {
      if (this.used[kind] > this.offered[kind]) return true;
    }
    for (const { used, offered } of this.custom.values()) if (used > offered) return true;
    return false;
  }

  private lacks({ needs, custom }: Shape): Lack[] {
    const lacks = KINDS.map((name, kind) => {
      const offered = this.offered[kind];
      return {
        name: name as string,
        needed: needs[kind],
        free: offered - this.used[kind],
        offered,
      };
    });
    for (const { name, thousandths } of custom) {
      const { offered = 0, used = 0 } = this.custom.get(name) ?? {};
      lacks.push({ name, needed: thousandths, free: offered - used, offered });
    }
    return lacks.filter(({ needed }) => needed > 0);
  }

  private stock(name: string): Stock {
    let stock = this.custom.get(name);
    if (stock === undefined) {
      stock = { offered: 0, used: 0 };
      this.custom.set(name, stock);
    }
    return stock;
  }
}
