import type { EventOf, EventType } from '../events/events.ts';
import type { State } from '../state/state.ts';

/** Writes one event into the state. Total: a recorded event is a fact, so it never fails (L3). */
export type Applier<T extends EventType> = (state: State, at: number, event: EventOf<T>) => void;

/** The appliers of all events in a table. */
export type Appliers<Table> = { readonly [T in keyof Table & EventType]: Applier<T> };
