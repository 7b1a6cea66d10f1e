import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { Decision } from '../../decision/decision.ts';
import type { TaskDetails } from '../../events/events.ts';
import { type ReadonlyState, TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import { pointAt } from '../../structures/payload-range.ts';
import { retryText } from '../../task/retry-policy.ts';
import { callbackText, tagsText } from '../../task/task-labels.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { DEFAULT_PRIORITY } from '../../task/task-state.ts';
import { timeoutsText } from '../../task/timeouts.ts';
import {
  type DedupeClaims,
  type Duplicates,
  findDuplicates,
  forgetKeys,
  pointAtClaim,
} from './duplicates.ts';

/** Takes all of the tasks or none. */
export interface SubmitTasks {
  readonly type: 'submit_tasks';
  readonly now: number;
  readonly namespace: string;
  readonly tasks: readonly TaskSpec[];
  /**
   * The inputs as JSON text, one behind the other; an empty one is null. Read before `execute`
   * returns.
   */
  readonly inputs: Uint8Array;
  /** Where the input of each task ends. */
  readonly inputEnds: ArrayLike<number>;
  /** Present when a task has a dedupe key. */
  readonly dedupe?: DedupeClaims;
}

export interface SubmitTasksReply {
  readonly rejection?:
    | 'too_many_tasks'
    | 'too_many_bytes'
    | 'too_many_types'
    | 'too_many_keys'
    | 'too_many_callbacks'
    | 'dedupe_mismatch';
  /** The task whose key was used with another body. */
  readonly mismatchAt?: number;
  /** One per task, in order; `NO_SLOT` for a known task that has left memory. */
  readonly slots: readonly Slot[];
  /** Tasks that were there before, by their places; present when there are any. */
  readonly known?: ReadonlyMap<number, KnownTask>;
}

export interface KnownTask {
  readonly number: TaskNumber;
  readonly submittedAt: number;
  /** Number of its state. */
  readonly state: number;
}

/** Accepts all tasks or none. */
export function decideSubmitTasks(decision: Decision, command: SubmitTasks): SubmitTasksReply {
  // Keys whose windows are over must not keep others out; as many go as are in the way (L9).
  const { count, capacity } = decision.state.dedupe;
  if (command.dedupe !== undefined) {
    forgetKeys(decision, count + command.tasks.length - capacity);
  }
  const rejection = whyRefused(decision, command);
  if (rejection !== undefined) return { rejection, slots: [] };
  const duplicates = findDuplicates(decision, command.dedupe);
  const { mismatchAt } = duplicates;
  if (mismatchAt >= 0) return { rejection: 'dedupe_mismatch', mismatchAt, slots: [] };

  const slots: Slot[] = [];
  for (let i = 0; i < command.tasks.length; i++) {
    const entry = duplicates.entries.get(i);
    const earlier = duplicates.earlier.get(i);
    if (entry !== undefined) slots.push(slotOfEntry(decision.state, entry));
    else if (earlier !== undefined) slots.push(slots[earlier]);
    else slots.push(submit(decision, command, i));
  }
  if (duplicates.entries.size + duplicates.earlier.size === 0) return { slots };
  return { slots, known: describeKnown(decision.state, slots, duplicates) };
}

function submit(decision: Decision, command: SubmitTasks, index: number): Slot {
  const { state } = decision;
  const key = queueKey(command.namespace, command.tasks[index].type);
  const definition = state.taskTypes.size === 0 ? undefined : state.taskTypes.get(key);
  const task = withDefaults(command.tasks[index], definition);
  const event = decision.events.taskSubmitted;
  event.slot = state.tasks.nextFree();
  event.task = state.nextTask;
  fillDetails(event, task, key);
  event.shape = decision.shapeTexts.textOf(task);
  event.runAt = runAtOf(task, decision.now);
  pointAt(event.input, command.inputs, command.inputEnds, index);
  if (command.dedupe === undefined) event.dedupe.windowMs = 0;
  else pointAtClaim(event.dedupe, command.dedupe, index);
  decision.emit(event);
  return event.slot;
}

/** All that is said of a task but its input and its shape. */
export function fillDetails(event: TaskDetails, task: TaskSpec, key: string): void {
  event.taskType = key;
  event.priority = task.priority ?? DEFAULT_PRIORITY;
  event.retry = retryText(task.retry);
  event.timeouts = timeoutsText(task.timeouts);
  event.tags = tagsText(task.tags);
  event.callback = callbackText(task.callback);
  // What the log cannot hold as it is must not be in memory either, or a replay would differ.
  event.parent = task.parentId?.toWellFormed() ?? '';
}

function runAtOf(task: TaskSpec, now: number): number {
  return task.delayMs === undefined ? (task.runAt ?? 0) : now + task.delayMs;
}

/** `NO_SLOT` when the task has left memory and only its key is remembered. */
function slotOfEntry({ tasks, dedupe }: ReadonlyState, entry: Slot): Slot {
  return tasks.find(dedupe.task[entry] as TaskNumber);
}

function describeKnown(
  state: ReadonlyState,
  slots: readonly Slot[],
  { entries, earlier }: Duplicates,
): ReadonlyMap<number, KnownTask> {
  const { tasks, dedupe } = state;
  const known = new Map<number, KnownTask>();
  for (const [place, entry] of entries) {
    const slot = slots[place];
    known.set(place, {
      number: dedupe.task[entry] as TaskNumber,
      submittedAt: dedupe.submittedAt[entry],
      state: slot === NO_SLOT ? dedupe.lastState[entry] : tasks.state[slot],
    });
  }
  for (const place of earlier.keys()) {
    const slot = slots[place];
    known.set(place, {
      number: tasks.number[slot] as TaskNumber,
      submittedAt: tasks.submittedAt[slot],
      state: tasks.state[slot],
    });
  }
  return known;
}

function whyRefused(
  { state }: Decision,
  command: SubmitTasks,
): SubmitTasksReply['rejection'] | undefined {
  const { namespace, tasks, dedupe, inputEnds } = command;
  if (state.tasks.count + tasks.length > state.limits.tasksMax) return 'too_many_tasks';
  // What else is said of them counts as soon as it is held; a request has a bound.
  const bytes = inputEnds[tasks.length - 1];
  if (state.heldBytes + bytes > state.limits.payloadBytesMax) return 'too_many_bytes';
  if (dedupe !== undefined && state.dedupe.count + tasks.length > state.dedupe.capacity) {
    return 'too_many_keys';
  }
  if (hasTooManyCallbacks(state, command)) return 'too_many_callbacks';
  if (state.queues.length + tasks.length <= TASK_TYPES_MAX) return undefined;

  const unknown = new Set<string>();
  for (const { type } of tasks) {
    if (state.queueOf(queueKey(namespace, type)) === undefined) unknown.add(type);
  }
  return state.queues.length + unknown.size > TASK_TYPES_MAX ? 'too_many_types' : undefined;
}

/** Of those that are taken each may be owed one; what was promised before is owed all the same. */
function hasTooManyCallbacks(state: ReadonlyState, { namespace, tasks }: SubmitTasks): boolean {
  const room = state.limits.callbacksMax - state.outbox.pendingCount;
  if (tasks.length <= room) return false;
  const wanting = tasks.filter((task) => {
    const definition = state.taskTypes.get(queueKey(namespace, task.type));
    return withDefaults(task, definition).callback !== undefined;
  });
  return wanting.length > Math.max(0, room);
}
