import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { Decision } from '../../decision/decision.ts';
import type { TaskDetails } from '../../events/events.ts';
import type { QuotaName } from '../../state/quotas.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { pointAt } from '../../structures/payload-range.ts';
import type { DedupeClaim } from '../../task/dedupe-claim.ts';
import type { ShapeTexts } from '../../task/shape-texts.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { DEFAULT_PRIORITY } from '../../task/task-state.ts';
import { fillTexts } from '../../task/task-texts.ts';
import {
  type DedupeClaims,
  type Duplicates,
  findDuplicates,
  pointAtClaim,
  slotOfEntry,
} from './duplicates.ts';
import { specAt, whyRefused } from './refused-submit.ts';
import { replaceTask } from './replace-task.ts';
import { findRequest, rememberRequest } from './request-keys.ts';

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
  /**
   * The key of the whole request, with the hash of its body. Only for a submit without dedupe keys,
   * whose tasks get numbers that follow each other, and only from `REQUEST_KEYS_LEVEL` on.
   */
  readonly request?: DedupeClaim;
}

export interface SubmitTasksReply {
  readonly rejection?:
    | 'too_many_tasks'
    | 'too_many_bytes'
    | 'too_many_types'
    | 'too_many_keys'
    | 'too_many_callbacks'
    | 'quota_exceeded'
    | 'dedupe_mismatch'
    /** The key of the request was used with another body. */
    | 'request_mismatch';
  /** The quota of the namespace that the tasks would exceed. */
  readonly quota?: QuotaName;
  /** The task whose key was used with another input. */
  readonly mismatchAt?: number;
  /** The task that the key stands for, or the first one; absent when both are in this submit. */
  readonly mismatch?: KnownTask;
  /** One per task, in order; `NO_SLOT` for a known task that has left memory. */
  readonly slots: readonly Slot[];
  /** Tasks that were there before, by their places; present when there are any. */
  readonly known?: ReadonlyMap<number, KnownTask>;
}

export interface KnownTask {
  readonly number: TaskNumber;
  readonly submittedAt: number;
  /** Number of its state; `UNKNOWN_STATE` for a task of a request that has left memory. */
  readonly state: number;
}

/** Accepts all tasks or none. Tasks that were there before take nothing, so they always fit. */
export function decideSubmitTasks(decision: Decision, command: SubmitTasks): SubmitTasksReply {
  const repeated = findRequest(decision, command);
  if (repeated !== undefined) return repeated;
  const duplicates = findDuplicates(decision, command.dedupe);
  const { mismatchAt, entries, earlier, replacing } = duplicates;
  if (mismatchAt >= 0) return mismatchReply(decision.state, duplicates);
  const fresh = freshTasks(command, duplicates);
  const refusal =
    fresh.length + replacing.size === 0
      ? undefined
      : whyRefused(decision, command, { fresh, duplicates });
  if (refusal !== undefined) return { ...refusal, slots: [] };

  const slots: Slot[] = [];
  for (let i = 0; i < command.tasks.length; i++) {
    const entry = entries.get(i);
    const before = earlier.get(i);
    if (entry !== undefined) slots.push(slotOfEntry(decision.state, entry));
    else if (before !== undefined) slots.push(slots[before]);
    else slots.push(submit(decision, command, i));
    if (replacing.has(i)) replace(decision, command, { index: i, slot: slots[i] });
  }
  rememberRequest(decision, command, slots[0]);
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
  const task = specAt(state, command, index);
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

/** The task in the slot takes what this task of the submit says. */
function replace(
  decision: Decision,
  command: SubmitTasks,
  { index, slot }: { readonly index: number; readonly slot: Slot },
): void {
  const { inputs, inputEnds, dedupe } = command;
  if (dedupe === undefined) return;
  const task = specAt(decision.state, command, index);
  const input = { bytes: inputs, start: 0, end: 0 };
  pointAt(input, inputs, inputEnds, index);
  const claim = { words: dedupe.words, start: 0, windowMs: 0 };
  pointAtClaim(claim, dedupe, index);
  const runAt = runAtOf(task, decision.now);
  replaceTask(decision, { slot, task, runAt, input, claim });
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

function describeKnown(
  state: ReadonlyState,
  slots: readonly Slot[],
  { entries, earlier }: Duplicates,
): ReadonlyMap<number, KnownTask> {
  const { tasks } = state;
  const known = new Map<number, KnownTask>();
  for (const [place, entry] of entries) known.set(place, taskOfEntry(state, entry));
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

/** The task that a key stands for. */
function taskOfEntry(state: ReadonlyState, entry: Slot): KnownTask {
  const { tasks, dedupe } = state;
  const slot = slotOfEntry(state, entry);
  return {
    number: dedupe.task[entry] as TaskNumber,
    submittedAt: dedupe.submittedAt[entry],
    state: slot === NO_SLOT ? dedupe.lastState[entry] : tasks.state[slot],
  };
}

function mismatchReply(state: ReadonlyState, duplicates: Duplicates): SubmitTasksReply {
  const { mismatchAt, mismatchEntry } = duplicates;
  const mismatch = mismatchEntry === NO_SLOT ? {} : { mismatch: taskOfEntry(state, mismatchEntry) };
  return { rejection: 'dedupe_mismatch', mismatchAt, ...mismatch, slots: [] };
}
