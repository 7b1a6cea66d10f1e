import { NO_SLOT } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { Decision } from '../../decision/decision.ts';
import { type AddedUse, exceededQuota } from '../../state/quotas.ts';
import { type ReadonlyState, TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import { sharedBytes } from '../../structures/interner.ts';
import { tagsText } from '../../task/task-labels.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { type Duplicates, forgetKeys, slotOfEntry } from './duplicates.ts';
import type { SubmitTasks, SubmitTasksReply } from './submit-tasks.ts';

/** Share of the bytes that new tasks and runs leave to the steps of runs. */
export const ROOM_FOR_STEPS = 0.1;

/** A task of the submit with the defaults of its type. */
export function specAt(
  state: ReadonlyState,
  { namespace, tasks }: SubmitTasks,
  index: number,
): TaskSpec {
  if (state.taskTypes.size === 0) return tasks[index];
  const key = queueKey(namespace, tasks[index].type);
  return withDefaults(tasks[index], state.taskTypes.get(key));
}

/** What a submit adds: new tasks, and tasks that replace others. */
interface Additions {
  readonly fresh: readonly number[];
  readonly duplicates: Duplicates;
}

type Refusal = Pick<SubmitTasksReply, 'rejection' | 'quota'>;

/** Why the submit does not fit; undefined when it does. */
export function whyRefused(
  decision: Decision,
  command: SubmitTasks,
  { fresh, duplicates }: Additions,
): Refusal | undefined {
  const { state } = decision;
  const added = { ...addedUse(state, command, fresh), shapes: newShapes(decision, command, fresh) };
  added.payloadBytes += replacingBytes(state, command, duplicates);
  // Keys whose windows are over must not keep others out; as many go as are in the way (L9).
  forgetKeys(decision, state.dedupe.count + added.dedupeKeys - state.dedupe.capacity);
  // Runs that are under way need room for their next steps, or they could never end.
  if (state.tasks.count + state.runs.promised + added.tasks > state.limits.tasksMax) {
    return { rejection: 'too_many_tasks' };
  }
  // What else is said of them counts as soon as it is held; a request has a bound.
  const share = state.runs.promised > 0 ? 1 - ROOM_FOR_STEPS : 1;
  if (state.heldBytes + added.payloadBytes > state.limits.payloadBytesMax * share) {
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
  command: SubmitTasks,
  fresh: readonly number[],
): Required<Omit<AddedUse, 'shapes' | 'schedules'>> {
  const { namespace, tasks, dedupe, request } = command;
  let payloadBytes = 0;
  let dedupeKeys = request === undefined ? 0 : 1;
  const newTypes = new Set<string>();
  let lastType = '';
  for (const i of fresh) {
    payloadBytes += inputBytes(command, i);
    if (dedupe !== undefined && dedupe.windowsMs[i] !== 0) dedupeKeys += 1;
    const { type } = tasks[i];
    // Most submits are of one type.
    if (type === lastType) continue;
    lastType = type;
    if (state.queueOf(queueKey(namespace, type)) === undefined) newTypes.add(type);
  }
  return { tasks: fresh.length, payloadBytes, dedupeKeys, taskTypes: newTypes.size };
}

/** Bytes by which replaced inputs and tags grow. A replacement that is smaller frees no room. */
function replacingBytes(
  state: ReadonlyState,
  command: SubmitTasks,
  { replacing, entries }: Duplicates,
): number {
  const { tasks, texts } = state;
  let bytes = 0;
  for (const i of replacing) {
    const after = inputBytes(command, i) + sharedBytes(tagsText(specAt(state, command, i).tags));
    const entry = entries.get(i);
    const slot = entry === undefined ? NO_SLOT : slotOfEntry(state, entry);
    const before =
      slot === NO_SLOT
        ? 0
        : tasks.inputLength[slot] + sharedBytes(texts.tags.textAt(tasks.tags[slot]));
    bytes += Math.max(0, after - before);
  }
  return bytes;
}

function inputBytes({ inputEnds }: SubmitTasks, index: number): number {
  return inputEnds[index] - (index === 0 ? 0 : inputEnds[index - 1]);
}

/** Shapes that no task of the namespace has yet. */
function newShapes(
  { state, shapeTexts }: Decision,
  command: SubmitTasks,
  fresh: readonly number[],
): number {
  if (state.limits.quotas === undefined) return 0;
  const used = state.namespaces.find(command.namespace)?.shapes;
  const texts = new Set<string>();
  for (const i of fresh) {
    const text = shapeTexts.textOf(specAt(state, command, i));
    const place = text === '' ? undefined : state.texts.shape.placeOf(text);
    if (text !== '' && (place === undefined || used?.has(place) !== true)) texts.add(text);
  }
  return texts.size;
}

/** Each task that is taken may create one delivery; those that are promised already stay. */
function hasTooManyCallbacks(
  state: ReadonlyState,
  command: SubmitTasks,
  fresh: readonly number[],
): boolean {
  const room = state.limits.callbacksMax - state.outbox.pendingCount;
  if (fresh.length <= room) return false;
  const wanting = fresh.filter((i) => specAt(state, command, i).callback !== undefined);
  return wanting.length > Math.max(0, room);
}
