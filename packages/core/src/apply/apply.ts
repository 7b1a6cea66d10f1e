import { invariant } from '../base/invariant.ts';
import { ATTEMPT_EVENTS } from '../events/attempt-events.ts';
import { EVENTS, type Event, type EventType } from '../events/events.ts';
import type { PARTITION_EVENTS } from '../events/partition-events.ts';
import { TASK_EVENTS } from '../events/task-events.ts';
import type { State } from '../state/state.ts';
import type { Applier, Appliers } from './applier.ts';
import { ACCESS_APPLIERS } from './apply-access.ts';
import { ATTEMPT_APPLIERS } from './apply-attempts.ts';
import { CALLBACK_APPLIERS } from './apply-callbacks.ts';
import { QUEUE_APPLIERS } from './apply-queues.ts';
import { RUN_APPLIERS, STEP_TASK_APPLIERS } from './apply-runs.ts';
import { SCHEDULE_APPLIERS } from './apply-schedules.ts';
import { TASK_APPLIERS } from './apply-tasks.ts';

const PARTITION_APPLIERS: Appliers<typeof PARTITION_EVENTS> = {
  dedupe_forgotten: (state, _at, { slot, task }) => {
    invariant(state.dedupe.task[slot] === task, 'a key stands for the task it names');
    state.changes.noteKey(slot);
    const use = state.namespaces.at(state.dedupe.namespace[slot]);
    use.dedupeKeys -= 1;
    state.namespaces.forgetIfUnused(use);
    state.dedupe.remove(slot);
  },
  dedupe_input_changed: (state, _at, { slot, task, dedupe }) => {
    invariant(state.dedupe.task[slot] === task, 'a key stands for the task it names');
    state.changes.noteKey(slot);
    state.dedupe.setInput(slot, dedupe);
  },
  request_remembered: (state, at, { slot, task, dedupe }) => {
    invariant(state.tasks.number[slot] === task, 'a request stands for the task that it names');
    const { use } = state.queues[state.tasks.queue[slot]];
    use.dedupeKeys += 1;
    const first = { task, submittedAt: at, namespace: use.index };
    state.changes.noteKey(state.dedupe.addRequest(dedupe, first));
  },
  numbers_skipped: (state, _at, { nextLease, nextDelivery }) => {
    state.nextLease = nextLease;
    state.outbox.skipTo(nextDelivery);
  },
  state_hashed: (state) => state.changes.clear(),
};

const APPLIERS: Appliers<typeof EVENTS> = {
  ...TASK_APPLIERS,
  ...STEP_TASK_APPLIERS,
  ...ATTEMPT_APPLIERS,
  ...QUEUE_APPLIERS,
  ...ACCESS_APPLIERS,
  ...CALLBACK_APPLIERS,
  ...RUN_APPLIERS,
  ...SCHEDULE_APPLIERS,
  ...PARTITION_APPLIERS,
};

/**
 * What an event expects in its slot before it is applied: no task, a free slot for a new task, or
 * its task.
 */
const NO_TASK = 0;
const NEW_TASK = 1;
const ITS_TASK = 2;

const NEW_TASKS = new Set(['task_submitted', 'task_readmitted', 'step_submitted']);

const FOUND = Object.fromEntries(
  Object.keys(EVENTS).map((type) => [type, foundBy(type)]),
) as Readonly<Record<EventType, number>>;

function foundBy(type: string): number {
  if (NEW_TASKS.has(type)) return NEW_TASK;
  return type in TASK_EVENTS || type in ATTEMPT_EVENTS ? ITS_TASK : NO_TASK;
}

/**
 * The only writer of the state, together with the `apply-*.ts` files and `task-places.ts`. It is
 * total over `Event`: a recorded event is a fact, so applying it never fails (L3). A broken
 * invariant here means that state and log disagree.
 */
export function apply(state: State, at: number, event: Event): void {
  const { type } = event;
  if (type !== 'state_hashed') {
    state.now = at;
    state.changes.events += 1;
  }
  const found = FOUND[type];
  if (found !== NO_TASK) {
    state.changes.noteTask(event.slot);
    if (found === ITS_TASK) {
      const task = state.tasks.number[event.slot];
      invariant(task === event.task, 'an event finds its task in its slot');
    }
  }
  (APPLIERS[type] as Applier<EventType>)(state, at, event);
}
