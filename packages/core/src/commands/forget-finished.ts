import { NO_SLOT, type TaskNumber } from '../base/ids.ts';
import type { Decision } from '../decision/decision.ts';
import { isAwaited } from '../state/find-run.ts';
import { dropUndelivered } from './callbacks/record-delivery.ts';
import { dropOverflow } from './dead-letters/discard-dead-letters.ts';

/** More than one command can finish, and few enough to cause no noticeable delay. */
const FORGOTTEN_PER_COMMAND = 20_000;

/**
 * Keeps finished tasks and dead letters within their limits (L9). A finished task that is not in
 * the projection yet stays. Only `deadLettersMax` removes dead letters: people must still look at
 * them, so no namespace loses any because another one fills the memory.
 *
 * This runs before the command itself, so that it frees no slot that the command names. `bytes` is
 * what the command adds.
 */
export function forgetOldest(decision: Decision, bytes: number): void {
  const { state, emit, events, projectedBefore } = decision;
  dropOverflow(decision);
  dropUndelivered(decision);
  const { finishedTasksMax, payloadBytesMax } = state.limits;
  const event = events.taskForgotten;
  for (let count = 0; count < FORGOTTEN_PER_COMMAND; count++) {
    const slot = state.finished.head;
    const isTooMuch = state.heldBytes + bytes > payloadBytesMax;
    const kept = state.finished.length + state.runs.endedSteps;
    if (kept <= finishedTasksMax && !isTooMuch) return;
    if (forgetsRun(decision)) {
      forgetRun(decision);
      continue;
    }
    if (slot === NO_SLOT) return;
    if (state.tasks.endedAt[slot] >= projectedBefore) return;
    event.slot = slot;
    event.task = state.tasks.number[slot] as TaskNumber;
    emit(event);
  }
}

/** Runs and plain tasks leave in the order of their ends. */
function forgetsRun({ state, projectedBefore }: Decision): boolean {
  const { runs, finished, tasks } = state;
  const run = runs.ended.head;
  if (run === NO_SLOT || runs.table.endedAt[run] >= projectedBefore) return false;
  if (isAwaited(state, run)) return false;
  const isNext = finished.head === NO_SLOT;
  return isNext || runs.table.endedAt[run] < tasks.endedAt[finished.head];
}

function forgetRun({ state, emit, events }: Decision): void {
  const { ended, table } = state.runs;
  events.runForgotten.slot = ended.head;
  events.runForgotten.task = table.number[ended.head] as TaskNumber;
  emit(events.runForgotten);
}
