import type { Slot, TaskNumber } from '../base/ids.ts';
import { CLAIM_WORDS } from '../task/dedupe-claim.ts';
import { EVENTS, type EventOf, type EventType } from './events.ts';
import type { FieldKind, FieldValues } from './fields.ts';

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** One reusable object per type of event. */
export type Events = { [T in EventType as CamelCase<T>]: EventOf<T> };

/** Every event, with blank fields. */
export function makeEvents(): Events {
  const events = Object.keys(EVENTS).map((type) => [camelCase(type), makeEvent(type as EventType)]);
  return Object.fromEntries(events);
}

/** Fields are in the order of the table, so that all objects of a type share one hidden class. */
export function makeEvent<T extends EventType>(type: T): EventOf<T> {
  const fields = Object.entries(EVENTS[type].fields).map(([name, { kind }]) => [
    name,
    blankOf(kind),
  ]);
  const event = { type, slot: 0 as Slot, task: 0 as TaskNumber, ...Object.fromEntries(fields) };
  return event as EventOf<T>;
}

const NOTHING = new Uint8Array(0);
const NO_CLAIM = new Uint32Array(CLAIM_WORDS);

const BLANKS: { readonly [K in FieldKind]: () => FieldValues[K] } = {
  number: () => 0,
  byte: () => 0,
  flag: () => false,
  text: () => '',
  sparse: () => '',
  payload: () => ({ bytes: NOTHING, start: 0, end: 0 }),
  pieces: () => ({ bytes: NOTHING, start: 0, end: 0 }),
  numbers: () => [],
  claim: () => ({ words: NO_CLAIM, start: 0, windowMs: 0 }),
};

function blankOf(kind: FieldKind): FieldValues[FieldKind] {
  return BLANKS[kind]();
}

function camelCase(type: string): string {
  return type.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
