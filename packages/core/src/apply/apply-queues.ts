import type { QUEUE_EVENTS } from '../events/queue-events.ts';
import type { Appliers } from './applier.ts';

/** The part of `apply` for queues, task types and redrives. */
export const QUEUE_APPLIERS: Appliers<typeof QUEUE_EVENTS> = {
  queue_changed: (state, _at, event) => {
    const queue = state.queueTable.intern(event.taskType);
    queue.paused = event.paused;
    state.queueTable.forgetIfUnused(queue);
  },
  task_type_changed: (state, _at, event) => state.taskTypes.put(event.taskType, event.definition),
  redrive_started: (state, at, event) => {
    const { redrive, namespace, taskType } = event;
    const ratePerSec = event.ratePer1000Sec / 1000;
    const times = { startedAt: at, nextAt: at };
    state.redrives.start(redrive, { namespace, taskType, ratePerSec, ...times, done: 0 });
  },
  redrive_ended: (state, _at, event) => state.redrives.end(event.redrive),
};
