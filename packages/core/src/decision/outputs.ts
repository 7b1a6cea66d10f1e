import type { SessionId, Slot } from '../base/ids.ts';
import type { EvaluationRequest } from './runs/evaluation-request.ts';

/**
 * What a command wants done in the world, as values.
 *
 * The engine passes them to the shell right after the command, while the state is exactly the one
 * that they refer to. The shell releases them once the command is durable (L2). The lists are
 * reused for the next command.
 */
export interface Outputs {
  /** Tasks to push, parallel to `pushSlots`. The lease is in the task's columns. */
  readonly pushSessions: SessionId[];
  readonly pushSlots: Slot[];
  /** Tasks that reached a terminal state. */
  readonly endedSlots: Slot[];
  /** Runs that ended. */
  readonly endedRuns: Slot[];
  /** Runs that other runs started. */
  readonly startedRuns: Slot[];
  /** Runs that took longer than they should, and go on. */
  readonly overdueRuns: Slot[];
  /** Schedules that were created. */
  readonly createdSchedules: Slot[];
  /** Fires of schedules, also those that made nothing. */
  readonly fires: FireNotice[];
  /** Schedules whose fire found no room and is tried again. */
  readonly delayedFires: Slot[];
  /** Namespaces in which a step waits for the worker inside the server. */
  readonly httpNamespaces: string[];
  /** Scripts to evaluate. */
  readonly evaluations: EvaluationRequest[];
  /** Tasks whose attempt ended, whether or not another one follows. */
  readonly attemptSlots: Slot[];
  /** How each of these attempts ended, as an index of `ATTEMPT_OUTCOMES`. */
  readonly attemptOutcomes: number[];
  /** How long each of them took, since its start or since its lease. */
  readonly attemptMs: number[];
  /** Workers to be told to stop. */
  readonly cancels: CancelNotice[];
  /** Messages for workers. */
  readonly signals: SignalNotice[];
  /** Sessions that no longer exist; their streams are closed. */
  readonly closedSessions: SessionId[];
  /** Numbers of deliveries that may be tried from now on. */
  readonly deliveries: number[];
}

interface FireNotice {
  /** As an index of `FIRE_CAUSES`. */
  readonly cause: number;
  /** Why it made nothing, as an index of `FIRE_REASONS`; 0 when it made something. */
  readonly reason: number;
  readonly isRun: boolean;
  /** How much later than its time it fired, for a fire by the clock. */
  readonly lateMs: number;
}

/** The lease is in the columns of the slot, even when it was just revoked. */
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
  /** JSON text; empty for null. Valid as long as the command that carried it. */
  readonly data: Uint8Array;
  /** Lets the worker detect a signal that was sent again; undefined without one. */
  readonly key: string | undefined;
}

export function makeOutputs(): Outputs {
  return {
    pushSessions: [],
    pushSlots: [],
    endedSlots: [],
    endedRuns: [],
    startedRuns: [],
    overdueRuns: [],
    createdSchedules: [],
    fires: [],
    delayedFires: [],
    httpNamespaces: [],
    evaluations: [],
    attemptSlots: [],
    attemptOutcomes: [],
    attemptMs: [],
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
  outputs.endedRuns.length = 0;
  outputs.startedRuns.length = 0;
  outputs.overdueRuns.length = 0;
  outputs.createdSchedules.length = 0;
  outputs.fires.length = 0;
  outputs.delayedFires.length = 0;
  outputs.httpNamespaces.length = 0;
  outputs.evaluations.length = 0;
  outputs.attemptSlots.length = 0;
  outputs.attemptOutcomes.length = 0;
  outputs.attemptMs.length = 0;
  outputs.cancels.length = 0;
  outputs.signals.length = 0;
  outputs.closedSessions.length = 0;
  outputs.deliveries.length = 0;
}
