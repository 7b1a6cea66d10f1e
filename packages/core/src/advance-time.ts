import type { AdvanceTimeReply } from './command.ts';
import type { Decision } from './decision.ts';
import { forgetKeys } from './duplicates.ts';
import { NO_SLOT, type TaskNumber } from './ids.ts';
import { matchQueues } from './matching.ts';
import type { ReadonlyState } from './state.ts';

/** One command fires so many timers at the most, so that a burst does not hold up the reports. */
const TIMERS_PER_COMMAND = 1000;

/**
 * Fires the timers that are due: tasks that waited for their time join the tails of their queues.
 */
export function decideAdvanceTime(decision: Decision): AdvanceTimeReply {
  const { state, emit, events, now } = decision;
  const touched = new Set<ReadonlyState['queues'][number]>();
  let fired = 0;
  while (fired < TIMERS_PER_COMMAND) {
    const slot = state.timers.firstDue(now);
    if (slot === NO_SLOT) break;
    events.taskDue.slot = slot;
    events.taskDue.task = state.tasks.number[slot] as TaskNumber;
    emit(events.taskDue);
    touched.add(state.queues[state.tasks.queue[slot]]);
    fired += 1;
  }
  fired += forgetKeys(decision, TIMERS_PER_COMMAND - fired);
  matchQueues(decision, [...touched]);
  return { more: fired === TIMERS_PER_COMMAND };
}
