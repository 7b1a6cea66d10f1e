import { NO_LEASE, NO_SLOT, type Slot } from '../base/ids.ts';
import type { AccessKey } from '../state/access/access-keys.ts';
import type { AuditRecord } from '../state/access/audit-trail.ts';
import type { Delivery } from '../state/outbox.ts';
import type { ReadonlyState } from '../state/state.ts';
import { NO_STOP, QUEUED, REASONS, TASK_STATES } from '../task/task-state.ts';
import { describeRuns, type RunDescription } from './runs/describe-runs.ts';
import { describeSchedules, type ScheduleDescription } from './schedules/describe-schedules.ts';

/**
 * The whole durable state as plain values, so that two states can be compared and a difference can
 * be read. Arena references are left out, because they mean nothing outside the arena. Slots are
 * included, because events name them.
 */
export interface StateDescription {
  readonly now: number;
  readonly nextTask: number;
  readonly nextLease: number;
  readonly nextTailOrder: number;
  readonly nextHeadOrder: number;
  readonly nextFree: number;
  readonly count: number;
  readonly liveBytes: number;
  readonly tasks: readonly TaskDescription[];
  readonly queues: readonly QueueDescription[];
  readonly holders: readonly HolderDescription[];
  /** Task numbers, oldest end first. */
  readonly finished: readonly number[];
  readonly deadLettersDropped: number;
  /** Texts of the definitions, by key. */
  readonly taskTypes: Readonly<Record<string, string>>;
  readonly accessKeys: readonly AccessKey[];
  /** Newest first. */
  readonly audit: readonly AuditRecord[];
  readonly redrives: readonly unknown[];
  /** Pending deliveries, then those that were given up. */
  readonly deliveries: readonly unknown[];
  readonly nextDelivery: number;
  readonly deliveriesDropped: number;
  readonly nextRedrive: number;
  readonly timers: number;
  /** Number of texts in each interner, including the empty one. */
  readonly interned: Readonly<Record<'retry' | 'shape' | Label, number>>;
  /** Entries by place: the task, when it was submitted, when the key is forgotten. */
  readonly keys: readonly (readonly number[])[];
  readonly runs: readonly RunDescription[];
  readonly schedules: readonly ScheduleDescription[];
  readonly backfills: readonly unknown[];
  /** Definitions, and bytes that they use. */
  readonly programs: readonly number[];
}

export interface TaskDescription {
  readonly slot: number;
  readonly number: number;
  readonly type: string;
  readonly state: string;
  readonly reason: string;
  readonly priority: number;
  readonly attempt: number;
  readonly lease: number;
  /** The holder of the current lease or of the last one; null before the first. */
  readonly session: string | null;
  readonly submittedAt: number;
  readonly leasedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly input: readonly number[];
  readonly result: readonly number[];
  readonly answered: number;
  readonly shape: string;
  /** The order while queued; null otherwise. */
  readonly order: number | null;
  readonly retry: string;
  readonly timeouts: string;
  readonly tags: string;
  readonly callback: string;
  readonly parent: string;
  /** Value of the `dueAt` column, whose meaning depends on the state. */
  readonly dueAt: number;
  /** When its timer is due; null without one. */
  readonly timerAt: number | null;
  readonly retriedAt: number;
  /** The stop request and its deadline, and when cancellation was requested. */
  readonly stop: string;
  readonly stopAt: number | null;
  readonly cancelAskedAt: number;
  readonly isDiscarded: number;
  /** Entry of its dedupe key plus one; 0 without one. */
  readonly dedupe: number;
  /** Slot of its step plus one; 0 without one. */
  readonly step: number;
}

type Label = 'timeouts' | 'tags' | 'callback' | 'parent';

interface QueueDescription {
  readonly index: number;
  /** Key of the queue. */
  readonly type: string;
  readonly paused: boolean;
  readonly levels: number;
  readonly depth: number;
  /** Task numbers, oldest end first. */
  readonly dead: readonly number[];
  readonly lanes: readonly LaneDescription[];
}

interface LaneDescription {
  readonly shape: string;
  readonly level: number;
  readonly length: number;
  /** Task numbers, first to last. */
  readonly waiting: readonly number[];
}

interface HolderDescription {
  readonly session: string;
  readonly worker: string;
  readonly leaseMs: number;
  readonly resume: number;
  readonly heldSince: number;
  /** Task numbers, oldest lease first. */
  readonly held: readonly number[];
}

export function describeState(state: ReadonlyState): StateDescription {
  return {
    now: state.now,
    nextTask: state.nextTask,
    nextLease: state.nextLease,
    nextTailOrder: state.nextTailOrder,
    nextHeadOrder: state.nextHeadOrder,
    nextFree: state.tasks.nextFree(),
    count: state.tasks.count,
    liveBytes: state.payloads.liveBytes,
    tasks: usedSlots(state).map((slot) => describeTask(state, slot)),
    queues: describeQueues(state),
    holders: describeHolders(state),
    finished: numbersFrom(state, state.finished.head),
    timers: state.timers.count,
    interned: {
      shape: state.texts.shape.size,
      retry: state.texts.retry.size,
      timeouts: state.texts.timeouts.size,
      tags: state.texts.tags.size,
      callback: state.texts.callback.size,
      parent: state.texts.parent.size,
    },
    deadLettersDropped: state.deadLetters.dropped,
    taskTypes: Object.fromEntries(
      [...state.taskTypes.keys()].sort().map((key) => [key, state.taskTypes.textOf(key)]),
    ),
    redrives: [...state.redrives.entries()],
    deliveries: [...state.outbox.pending(), ...state.outbox.givenUp()].map((delivery) =>
      describeDelivery(state, delivery),
    ),
    nextDelivery: state.outbox.next,
    deliveriesDropped: state.outbox.dropped,
    accessKeys: [...state.accessKeys.values()],
    audit: [...state.audit.before(state.audit.next)],
    nextRedrive: state.redrives.next,
    keys: describeKeys(state),
    runs: describeRuns(state),
    schedules: describeSchedules(state),
    backfills: [...state.schedules.backfills.entries()],
    programs: [state.programs.count, state.programs.bytes, state.programs.nextPlace],
  };
}

export function describeTask(state: ReadonlyState, slot: Slot): TaskDescription {
  const { tasks } = state;
  const hasLease = tasks.lease[slot] !== NO_LEASE;
  return {
    slot,
    number: tasks.number[slot],
    type: state.queues[tasks.queue[slot]].key,
    state: TASK_STATES[tasks.state[slot]],
    reason: REASONS[tasks.reason[slot]],
    priority: tasks.priority[slot],
    attempt: tasks.attempt[slot],
    lease: tasks.lease[slot],
    session: hasLease ? state.holders.at(tasks.holderOf(slot)).session : null,
    submittedAt: tasks.submittedAt[slot],
    leasedAt: tasks.leasedAt[slot],
    startedAt: tasks.startedAt[slot],
    endedAt: tasks.endedAt[slot],
    input: payload(state, tasks.input[slot], tasks.inputLength[slot]),
    result: payload(state, tasks.result[slot], tasks.resultLength[slot]),
    answered: tasks.answered[slot],
    shape: state.texts.shape.textAt(tasks.shape[slot]),
    order: tasks.state[slot] === QUEUED ? tasks.order[slot] : null,
    retry: state.texts.retry.textAt(tasks.retry[slot]),
    timeouts: state.texts.timeouts.textAt(tasks.timeouts[slot]),
    tags: state.texts.tags.textAt(tasks.tags[slot]),
    callback: state.texts.callback.textAt(tasks.callback[slot]),
    parent: state.texts.parent.textAt(tasks.parent[slot]),
    dueAt: tasks.dueAt[slot],
    timerAt: state.timers.has(slot) ? tasks.timerAt[slot] : null,
    retriedAt: tasks.retriedAt[slot],
    stop: tasks.stop[slot] === NO_STOP ? '' : REASONS[tasks.stop[slot]],
    stopAt: tasks.stop[slot] === NO_STOP ? null : tasks.stopAt[slot],
    cancelAskedAt: tasks.cancelAskedAt[slot],
    isDiscarded: tasks.isDiscarded[slot],
    dedupe: tasks.dedupe[slot],
    step: tasks.step[slot],
  };
}

export function describeDelivery(state: ReadonlyState, delivery: Delivery) {
  const { number, task, at, tries, firstFailedAt, nextAt, failure, status } = delivery;
  const type = state.queues[delivery.queue].key;
  const callback = state.texts.callback.textAt(delivery.callback);
  const subject = { number, task, type, callback, state: TASK_STATES[delivery.state], at };
  const { givenUpAt } = delivery;
  return { ...subject, tries, firstFailedAt, nextAt, failure, status, givenUpAt };
}

function describeKeys({ dedupe }: ReadonlyState): number[][] {
  const keys: number[][] = [];
  for (let entry = 0; entry < dedupe.capacity; entry++) {
    if (dedupe.task[entry] === 0) continue;
    keys.push([entry, dedupe.task[entry], dedupe.submittedAt[entry], dedupe.expiresAt[entry]]);
  }
  return keys;
}

function usedSlots(state: ReadonlyState): Slot[] {
  const slots: Slot[] = [];
  for (let slot = 0; slot < state.tasks.capacity; slot++) {
    if (state.tasks.number[slot] !== 0) slots.push(slot as Slot);
  }
  return slots;
}

function describeQueues(state: ReadonlyState): QueueDescription[] {
  const inUse = state.queues.filter(({ isFree }) => !isFree);
  return inUse.map((queue) => ({
    index: queue.index,
    type: queue.key,
    paused: queue.paused,
    dead: numbersFrom(state, state.deadLetters.firstOfQueue(queue.index)),
    levels: queue.levels,
    depth: queue.depth,
    lanes: queue.open
      .map(({ shape, level, length, head }) => ({
        shape: state.texts.shape.textAt(shape),
        level,
        length,
        waiting: numbersFrom(state, head),
      }))
      // The order in which lanes opened does not matter.
      .toSorted((a, b) => b.level - a.level || (a.shape < b.shape ? -1 : 1)),
  }));
}

function describeHolders(state: ReadonlyState): HolderDescription[] {
  return [...state.holders.holding()].map((holder) => {
    const held: number[] = [];
    state.holders.forEachHeld(state.holders.find(holder.session), (slot) => {
      held.push(state.tasks.number[slot]);
    });
    const { session, worker, leaseMs, resume, heldSince } = holder;
    return { session, worker, leaseMs, resume, heldSince, held };
  });
}

/** Stops after as many steps as there are slots: a broken list must not hang the test. */
function numbersFrom({ tasks }: ReadonlyState, head: Slot): number[] {
  const numbers: number[] = [];
  let slot: number = head;
  while (slot !== NO_SLOT && numbers.length <= tasks.capacity) {
    numbers.push(tasks.number[slot]);
    slot = tasks.next[slot];
  }
  return numbers;
}

function payload({ payloads }: ReadonlyState, reference: number, length: number): number[] {
  if (length === 0) return [];
  const start = payloads.startOf(reference);
  const bytes = payloads.bytesOf(reference);
  const values: number[] = [];
  for (let at = start; at < start + length; at++) values.push(bytes[at]);
  return values;
}
