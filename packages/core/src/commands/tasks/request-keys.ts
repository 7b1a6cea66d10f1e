import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { liveEntry } from './duplicates.ts';
import type { KnownTask, SubmitTasks, SubmitTasksReply } from './submit-tasks.ts';

/** The state of a task that has left memory. Its key does not know it; records do. */
export const UNKNOWN_STATE = -1;

/**
 * The answer to a submit whose request came before; undefined for a new one.
 *
 * request.whole: A request is remembered by one key, not by one for each task. Its tasks have
 *   numbers that follow each other, so the first number and the same body give all of them.
 */
export function findRequest(
  decision: Decision,
  { request, tasks }: SubmitTasks,
): SubmitTasksReply | undefined {
  if (request === undefined) return undefined;
  const { state } = decision;
  const entry = liveEntry(decision, request);
  if (entry === NO_SLOT) return undefined;
  if (!state.dedupe.hasSameInput(entry, request)) {
    return { rejection: 'request_mismatch', mismatch: taskOf(decision, entry, 0), slots: [] };
  }
  const known = tasks.map((_, place) => taskOf(decision, entry, place));
  return {
    slots: known.map(({ number }) => state.tasks.find(number)),
    known: new Map(known.entries()),
  };
}

/** The task at this place of the request that the entry remembers. */
function taskOf({ state }: Decision, entry: Slot, place: number): KnownTask {
  const { tasks, dedupe } = state;
  const number = (dedupe.task[entry] + place) as TaskNumber;
  const slot = tasks.find(number);
  return {
    number,
    submittedAt: dedupe.submittedAt[entry],
    state: slot === NO_SLOT ? UNKNOWN_STATE : tasks.state[slot],
  };
}

/** Remembers a request whose tasks were all accepted. */
export function rememberRequest(
  { state, events, emit }: Decision,
  { request }: SubmitTasks,
  first: Slot,
): void {
  if (request === undefined) return;
  const event = events.requestRemembered;
  event.slot = first;
  event.task = state.tasks.number[first] as TaskNumber;
  event.dedupe.words = request.words;
  event.dedupe.start = request.start;
  event.dedupe.windowMs = request.windowMs;
  emit(event);
}
