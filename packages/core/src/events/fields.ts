import type { PayloadRange } from '../structures/payload-range.ts';
import type { DedupeClaim } from '../task/dedupe-claim.ts';

/** What a field of each kind holds. How a kind is written is in `event-codec.ts`. */
export interface FieldValues {
  /** A whole number from 0 to 2^53 - 1. */
  readonly number: number;
  /** A whole number from 0 to 255. */
  readonly byte: number;
  readonly flag: boolean;
  readonly text: string;
  /** A text that most events leave empty. Neighbours share a byte that says which follow. */
  readonly sparse: string;
  readonly payload: PayloadRange;
  readonly claim: DedupeClaim;
}

export type FieldKind = keyof FieldValues;

/** How a dump of the log shows a field that it does not show as it is. */
type FieldDump =
  /** A secret, or of use to nobody but the server. */
  | 'hidden'
  /** A session id, which is a secret: the id of its worker is shown. */
  | 'session'
  /** The number of a task state, and of a reason: their names are shown. */
  | 'state'
  | 'reason';

/** One field of an event. */
export interface Field<Kind extends FieldKind = FieldKind, Value = FieldValues[Kind]> {
  readonly kind: Kind;
  readonly dump?: FieldDump;
  /** Carries the type of the value and is never set. */
  readonly value?: Value;
}

export type Fields = Readonly<Record<string, Field>>;

/** An event as it is declared. The order of its fields is their order in the log. */
export interface EventDeclaration {
  /** Stands for the type in the log. A number never changes its meaning (L4). */
  readonly number: number;
  /** Rises with every change of the fields; an unknown version stops the partition (L4). */
  readonly version: number;
  readonly fields: Fields;
}

export const number: Field<'number'> = { kind: 'number' };
export const byte: Field<'byte'> = { kind: 'byte' };
export const flag: Field<'flag'> = { kind: 'flag' };
export const text: Field<'text'> = { kind: 'text' };
export const sparse: Field<'sparse'> = { kind: 'sparse' };
export const payload: Field<'payload'> = { kind: 'payload' };
export const claim: Field<'claim'> = { kind: 'claim' };
export const hiddenText: Field<'text'> = { kind: 'text', dump: 'hidden' };
export const hiddenSparse: Field<'sparse'> = { kind: 'sparse', dump: 'hidden' };
export const stateNumber: Field<'byte'> = { kind: 'byte', dump: 'state' };
export const reasonNumber: Field<'byte'> = { kind: 'byte', dump: 'reason' };

/** A number that only its own kind may be compared with, like that of a lease. */
export function branded<Value extends number>(): Field<'number', Value> {
  return { kind: 'number' };
}
