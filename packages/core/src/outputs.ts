import type { SessionId, Slot } from './ids.ts';

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
  /** Sessions that no longer exist: their streams are closed. */
  readonly closedSessions: SessionId[];
}

export function makeOutputs(): Outputs {
  return { pushSessions: [], pushSlots: [], endedSlots: [], closedSessions: [] };
}

export function clearOutputs(outputs: Outputs): void {
  outputs.pushSessions.length = 0;
  outputs.pushSlots.length = 0;
  outputs.endedSlots.length = 0;
  outputs.closedSessions.length = 0;
}
