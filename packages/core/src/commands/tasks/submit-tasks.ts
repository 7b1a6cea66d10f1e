import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { Decision } from '../../decision/decision.ts';
import type { TaskDetails } from '../../events/events.ts';
import { type AddedUse, exceededQuota, type QuotaName } from '../../state/quotas.ts';
import { type ReadonlyState, TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import { pointAt } from '../../structures/payload-range.ts';
import type { ShapeTexts } from '../../task/shape-texts.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { DEFAULT_PRIORITY } from '../../task/task-state.ts';
import { fillTexts } from '../../task/task-texts.ts';
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
    | 'quota_exceeded'
    | 'dedupe_mismatch';
  /** The quota of the namespace that the tasks would exceed. */
  readonly quota?: QuotaName;
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

/** Accepts all tasks or none. Tasks that were there before take nothing, so they always fit. */
export function decideSubmitTasks(decision: Decision, command: SubmitTasks): SubmitTasksReply {
  const duplicates = findDuplicates(decision, command.dedupe);
  const { mismatchAt, entries, earlier } = duplicates;
  if (mismatchAt >= 0) return { rejection: 'dedupe_mismatch', mismatchAt, slots: [] };
  const fresh = freshTasks(command, duplicates);
  const refusal = fresh.length === 0 ? undefined : whyRefused(decision, command, fresh);
  if (refusal !== undefined) return { ...refusal, slots: [] };

  const slots: Slot[] = [];
  for (let i = 0; i < command.tasks.length; i++) {
    const entry = entries.get(i);
    const before = earlier.get(i);
    if (entry !== undefined) slots.push(slotOfEntry(decision.state, entry));
    else if (before !== undefined) slots.push(slots[before]);
    else slots.push(submit(decision, command, i));
  }
  if (entries.size + earlier.size === 0) return { slots };
  return { slots, known: describeKnown(decision.state, slots, duplicates) };
}

/** Places of the tasks that are new. */
function freshTasks({ tasks }: SubmitTasks, { entries, earlier }: Duplicates): number[] {
  const fresh: number[] = [];
  for (let i = 0; i < tasks.length; i++) if (!entries.has(i) && !earlier.has(i)) fresh.push(i);
  return fresh;
}

function submit(decision: Decision, command: SubmitTasks, index: number): Slot {
  const { state } = decision;
  const key = queueKey(command.namespace, command.tasks[index].type);
  const definition = state.taskTypes.size === 0 ? undefined : state.taskTypes.get(key);
  const task = withDefaults(command.tasks[index], definition);
  const event = decision.events.taskSubmitted;
  event.slot = state.tasks.nextFree();
  event.task = state.nextTask;
  fillDetails(event, task, key, decision.shapeTexts);
  event.runAt = runAtOf(task, decision.now);
  pointAt(event.input, command.inputs, command.inputEnds, index);
  if (command.dedupe === undefined) event.dedupe.windowMs = 0;
  else pointAtClaim(event.dedupe, command.dedupe, index);
  decision.emit(event);
  return event.slot;
}

/** All that is said of a task but its input. */
export function fillDetails(
  event: TaskDetails,
  task: TaskSpec,
  key: string,
  shapes: ShapeTexts,
): void {
  event.taskType = key;
  event.priority = task.priority ?? DEFAULT_PRIORITY;
  // The text of a shape is looked up: it takes longest, and clients send the same few.
  fillTexts(event, task, shapes.textOf(task));
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

type Refusal = Pick<SubmitTasksReply, 'rejection' | 'quota'>;

function whyRefused(
  decision: Decision,
  command: SubmitTasks,
  fresh: readonly number[],
): Refusal | undefined {
  const { state } = decision;
  const added = { ...addedUse(state, command, fresh), shapes: newShapes(decision, command, fresh) };
  // Keys whose windows are over must not keep others out; as many go as are in the way (L9).
  forgetKeys(decision, state.dedupe.count + added.dedupeKeys - state.dedupe.capacity);
  if (state.tasks.count + added.tasks > state.limits.tasksMax) {
    return { rejection: 'too_many_tasks' };
  }
  // What else is said of them counts as soon as it is held; a request has a bound.
  if (state.heldBytes + added.payloadBytes > state.limits.payloadBytesMax) {
    return { rejection: 'too_many_bytes' };
  }
  if (state.dedupe.count + added.dedupeKeys > state.dedupe.capacity) {
    return { rejection: 'too_many_keys' };
  }
  if (hasTooManyCallbacks(state, command, fresh)) return { rejection: 'too_many_callbacks' };
  if (state.queueCount + added.taskTypes > TASK_TYPES_MAX) return { rejection: 'too_many_types' };
  const quota = exceededQuota(state, command.namespace, added);
  return quota === undefined ? undefined : { rejection: 'quota_exceeded', quota };
}

function addedUse(
  state: ReadonlyState,
  { namespace, tasks, dedupe, inputEnds }: SubmitTasks,
  fresh: readonly number[],
): Required<Omit<AddedUse, 'shapes'>> {
  let payloadBytes = 0;
  let dedupeKeys = 0;
  const newTypes = new Set<string>();
  let lastType = '';
  for (const i of fresh) {
    payloadBytes += inputEnds[i] - (i === 0 ? 0 : inputEnds[i - 1]);
    if (dedupe !== undefined && dedupe.windowsMs[i] !== 0) dedupeKeys += 1;
    const { type } = tasks[i];
    // Most submits are of one type.
    if (type === lastType) continue;
    lastType = type;
    if (state.queueOf(queueKey(namespace, type)) === undefined) newTypes.add(type);
  }
  return { tasks: fresh.length, payloadBytes, dedupeKeys, taskTypes: newTypes.size };
}

/** Shapes that no task of the namespace has yet. */
function newShapes(
  { state, shapeTexts }: Decision,
  { namespace, tasks }: SubmitTasks,
  fresh: readonly number[],
): number {
  if (state.limits.quotas === undefined) return 0;
  const used = state.namespaces.find(namespace)?.shapes;
  const texts = new Set<string>();
  for (const i of fresh) {
    const definition =
      state.taskTypes.size === 0
        ? undefined
        : state.taskTypes.get(queueKey(namespace, tasks[i].type));
    const text = shapeTexts.textOf(withDefaults(tasks[i], definition));
    const place = text === '' ? undefined : state.texts.shape.placeOf(text);
    if (text !== '' && (place === undefined || used?.has(place) !== true)) texts.add(text);
  }
  return texts.size;
}

/** Each task that is taken may create one delivery; those that are promised already stay. */
function hasTooManyCallbacks(
  state: ReadonlyState,
  { namespace, tasks }: SubmitTasks,
  fresh: readonly number[],
): boolean {
  const room = state.limits.callbacksMax - state.outbox.pendingCount;
  if (fresh.length <= room) return false;
  const wanting = fresh.filter((i) => {
    const definition = state.taskTypes.get(queueKey(namespace, tasks[i].type));
    return withDefaults(tasks[i], definition).callback !== undefined;
  });
  return wanting.length > Math.max(0, room);
}
