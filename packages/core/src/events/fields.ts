import type { PayloadRange } from '../structures/payload-range.ts';
import type { DedupeClaim } from '../task/dedupe-claim.ts';

/** The value type of each kind of field. `event-codec.ts` defines how a kind is written. */
export interface FieldValues {
  /** A whole number from 0 to 2^53 - 1. */
  readonly number: number;
  /** A whole number from 0 to 255. */
  readonly byte: number;
  readonly flag: boolean;
  readonly text: string;
  /**
   * A text that most events leave empty. Adjacent sparse texts share a byte that says which of them
   * follow.
   */
  readonly sparse: string;
  readonly payload: PayloadRange;
  /** A payload that may later be put together from parts of others. */
  readonly pieces: PayloadRange;
  /** A list of whole numbers. */
  readonly numbers: readonly number[];
  readonly claim: DedupeClaim;
}

export type FieldKind = keyof FieldValues;

/** How a dump of the log shows a field, when not as it is. */
type FieldDump =
  /** A secret, or useful only to the server. */
  | 'hidden'
  /** A session id, which is a secret: the dump shows the worker's id instead. */
  | 'session'
  /** The number of a task state or of a reason: the dump shows its name. */
  | 'state'
  | 'reason'
  /** The same for runs and steps. */
  | 'runState'
  | 'stepState'
  | 'runReason'
  | 'relation';

/** One field of an event. */
export interface Field<Kind extends FieldKind = FieldKind, Value = FieldValues[Kind]> {
  readonly kind: Kind;
  readonly dump?: FieldDump;
  /** Carries the type of the value; never set. */
  readonly value?: Value;
}

export type Fields = Readonly<Record<string, Field>>;

/** The declaration of an event. The order of its fields is their order in the log. */
export interface EventDeclaration {
  /** Identifies the type in the log. A number never changes its meaning (L4). */
  readonly number: number;
  /** Increases with every change of the fields. An unknown version stops the partition (L4). */
  readonly version: number;
  /** The level that a partition needs to write it (level.waits). Absent: 1. */
  readonly level?: number;
  readonly fields: Fields;
}

export const number: Field<'number'> = { kind: 'number' };
export const byte: Field<'byte'> = { kind: 'byte' };
export const flag: Field<'flag'> = { kind: 'flag' };
export const text: Field<'text'> = { kind: 'text' };
export const sparse: Field<'sparse'> = { kind: 'sparse' };
export const payload: Field<'payload'> = { kind: 'payload' };
export const pieces: Field<'pieces'> = { kind: 'pieces' };
export const numbers: Field<'numbers'> = { kind: 'numbers' };
export const claim: Field<'claim'> = { kind: 'claim' };
export const hiddenText: Field<'text'> = { kind: 'text', dump: 'hidden' };
export const hiddenPayload: Field<'payload'> = { kind: 'payload', dump: 'hidden' };
export const hiddenSparse: Field<'sparse'> = { kind: 'sparse', dump: 'hidden' };
export const stateNumber: Field<'byte'> = { kind: 'byte', dump: 'state' };
export const reasonNumber: Field<'byte'> = { kind: 'byte', dump: 'reason' };
export const runStateNumber: Field<'byte'> = { kind: 'byte', dump: 'runState' };
export const stepStateNumber: Field<'byte'> = { kind: 'byte', dump: 'stepState' };
export const runReasonNumber: Field<'byte'> = { kind: 'byte', dump: 'runReason' };

export const relationNumber: Field<'byte'> = { kind: 'byte', dump: 'relation' };

/** A number with a branded type, such as a lease number. */
export function branded<Value extends number>(): Field<'number', Value> {
  return { kind: 'number' };
}
