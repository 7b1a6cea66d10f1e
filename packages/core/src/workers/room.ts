import { type Constraint, holds, type Labels } from '../task/constraints.ts';
import { customOf, KINDS, offersOf, type Resources } from '../task/resources.ts';
import type { Shape } from '../task/shape.ts';

/**
 * Weight of combining tasks well against filling a worker. A lower weight leaves more room unused;
 * a higher one leaves fewer workers idle (docs/decisions/0009-placement.md).
 */
const GROWTH_WEIGHT = 64;

const SLOTS = KINDS.indexOf('slots');

/** Everything that a worker offers. */
export type Offer = Resources & { readonly slots: number };

/** The offered and used amounts of a custom kind, in thousandths. */
interface Stock {
  offered: number;
  used: number;
}

/** A kind that a shape needs more of than there is, for messages to people. */
export interface Lack {
  readonly name: string;
  readonly needed: number;
  readonly free: number;
  readonly offered: number;
}

function isBeyond({ needed, offered }: Lack): boolean {
  return needed > offered;
}

/**
 * The room of one session: its offer and what its leases use.
 *
 * room.sum-of-needs: The used amount is the sum of the needs of the session's leases. It may exceed
 *   the offer when a worker lowered its offer. Then no task fits, of any kind, until enough leases
 *   have ended.
 */
export class Room {
  labels: Labels = new Map();
  /** True when more of some kind is used than offered. */
  isOverdrawn = false;
  private offered: Float64Array = new Float64Array(KINDS.length);
  private readonly used = new Float64Array(KINDS.length);
  /** Custom kinds that are offered or used. */
  private readonly custom = new Map<string, Stock>();

  get hasSlot(): boolean {
    return !this.isOverdrawn && this.used[SLOTS] < this.offered[SLOTS];
  }

  /** Replaces the whole offer; the used amounts stay. */
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

  /** Recounts: these shapes are all leases that the session has. */
  count(shapes: Iterable<Shape>): void {
    this.used.fill(0);
    for (const stock of this.custom.values()) stock.used = 0;
    for (const shape of shapes) this.use(shape, 1);
    this.isOverdrawn = this.usesMoreThanOffered();
  }

  /** Whether the shape fits beside the current leases. */
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

  /** For people. Unlimited kinds are left out. */
  offeredAmounts(): Resources {
    return amountsOf(this.offered, this.custom, ({ offered }) => offered);
  }

  usedAmounts(): Resources {
    return amountsOf(this.used, this.custom, ({ used }) => used);
  }

  /** Whether the shape would fit if the session had no leases. */
  couldFit(shape: Shape): boolean {
    return !this.lacks(shape).some(isBeyond) && this.suits(shape);
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

  /** The kinds whose needs exceed the free amounts; those that exceed the whole offer first. */
  lacking(shape: Shape): Lack[] {
    const lacks = this.lacks(shape).filter(({ needed, free }) => needed > free);
    return [...lacks.filter(isBeyond), ...lacks.filter((lack) => !isBeyond(lack))];
  }

  /**
   * The cost of a shape that fits: its share of the offer, at a price that rises as a kind runs
   * out. The most expensive kind decides.
   */
  costOf({ needs, custom }: Shape): number {
    let cost = 0;
    for (let kind = 0; kind < needs.length; kind++) {
      if (needs[kind] === 0) continue;
      cost = Math.max(cost, costOfKind(needs[kind], this.used[kind], this.offered[kind]));
    }
    for (let i = 0; i < custom.length; i++) {
      const { used, offered } = this.stock(custom[i].name);
      cost = Math.max(cost, costOfKind(custom[i].thousandths, used, offered));
    }
    return cost;
  }

  /**
   * How well a shape that fits fills the room: the higher, the better.
   *
   * The used shares, one per kind, form a vector. A shape that needs other kinds than those in use
   * lengthens it less than one that needs the same. So does a shape whose needs match the
   * proportions of the offer. That counts most, because the rest of one kind is useless when
   * another is used up. Among equals the fullest worker is the best, so that others stay empty.
   */
  fillingWith({ needs, custom }: Shape): number {
    let fullness = 0;
    let taken = 0;
    let squares = 0;
    let squaresWith = 0;
    const { used, offered } = this;
    for (let kind = 0; kind < needs.length; kind++) {
      const share = shareOf(used[kind], offered[kind]);
      const shareWith = shareOf(used[kind] + needs[kind], offered[kind]);
      fullness = Math.max(fullness, shareWith);
      taken += shareWith - share;
      squares += share * share;
      squaresWith += shareWith * shareWith;
    }
    for (const [name, stock] of this.custom) {
      const needed = custom.find((each) => each.name === name)?.thousandths ?? 0;
      const share = shareOf(stock.used, stock.offered);
      const shareWith = shareOf(stock.used + needed, stock.offered);
      fullness = Math.max(fullness, shareWith);
      taken += shareWith - share;
      squares += share * share;
      squaresWith += shareWith * shareWith;
    }
    const growth = taken === 0 ? 0 : (Math.sqrt(squaresWith) - Math.sqrt(squares)) / taken;
    return fullness - GROWTH_WEIGHT * growth;
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

/** When nothing is offered, nothing is used either. */
function shareOf(used: number, offered: number): number {
  return used === 0 ? 0 : used / offered;
}

/** With half of it left, a kind costs eight times as much as with all of it left. */
function costOfKind(need: number, used: number, offered: number): number {
  const left = 1 - shareOf(used, offered);
  return need / offered / (left * left * left);
}

function amountsOf(
  thousandths: Float64Array,
  custom: ReadonlyMap<string, Stock>,
  of: (stock: Stock) => number,
): Resources {
  const kinds = KINDS.map((kind, place) => [kind, thousandths[place] / 1000] as const);
  const customs = [...custom].map(([name, stock]) => [name, of(stock) / 1000] as const);
  const isStated = ([, amount]: readonly [string, number]) => amount > 0 && Number.isFinite(amount);
  const stated = customs.filter(isStated);
  return {
    ...Object.fromEntries(kinds.filter(isStated)),
    ...(stated.length === 0 ? {} : { custom: Object.fromEntries(stated) }),
  };
}
