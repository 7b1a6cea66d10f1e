import type { SessionId, Slot } from '../base/ids.ts';

/**
 * What a command wants done in the world, as values.
 *
 * The engine hands them to the shell right after the command, while the state is exactly the one
 * they speak of, and the shell lets them out once the command is durable (L2). The lists are used
 * again for the next command.
 */
export interface Outputs {
  /** Tasks to push, parallel to `pushSlots`: the lease stands in the task's columns. */
  readonly pushSessions: SessionId[];
  readonly pushSlots: Slot[];
  /** Tasks that reached a terminal state. */
  readonly endedSlots: Slot[];
  /** Holders to be told to stop. */
  readonly cancels: CancelNotice[];
  /** Words for holders. */
  readonly signals: SignalNotice[];
  /** Sessions that no longer exist: their streams are closed. */
  readonly closedSessions: SessionId[];
  /** Numbers of deliveries that may be tried from now on. */
  readonly deliveries: number[];
}

/** The lease stands in the columns of the slot, also when it has just been revoked. */
interface CancelNotice {
  readonly session: SessionId;
  readonly slot: Slot;
  /** Number of the reason. */
  readonly reason: number;
  readonly graceMs: number;
}

interface SignalNotice {
  readonly session: SessionId;
  readonly slot: Slot;
  readonly name: string;
  /** JSON text; empty for null. Valid as long as the command that brought it. */
  readonly data: Uint8Array;
  /** By which the worker knows a word that is sent again; absent without one. */
  readonly key: string | undefined;
}

export function makeOutputs(): Outputs {
  return {
    pushSessions: [],
    pushSlots: [],
    endedSlots: [],
    cancels: [],
    signals: [],
    closedSessions: [],
    deliveries: [],
  };
}

export function clearOutputs(outputs: Outputs): void {
  outputs.pushSessions.length = 0;
  outputs.pushSlots.length = 0;
  outputs.endedSlots.length = 0;
  outputs.cancels.length = 0;
  outputs.signals.length = 0;
  outputs.closedSessions.length = 0;
  outputs.deliveries.length = 0;
}
