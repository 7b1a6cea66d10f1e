import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import type { EventOf } from '../../events/events.ts';
import {
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
} from '../../events/task-events.ts';
import { findTask, whyNotIdle } from '../../state/find-task.ts';
import { sharedBytes } from '../../structures/interner.ts';
import { pointAt } from '../../structures/payload-range.ts';
import { TAGS_MAX, type Tags, tagsText } from '../../task/task-labels.ts';
import { DEFAULT_PRIORITY } from '../../task/task-state.ts';
import { statedTimeouts, type Timeouts, timeoutsText } from '../../task/timeouts.ts';

/** A JSON merge patch: what is absent stays, null clears. */
export interface TaskPatch {
  readonly id: string;
  readonly priority?: number | null;
  readonly runAt?: number | null;
  readonly timeouts?: { readonly [K in keyof Timeouts]: Timeouts[K] | null } | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
  /** Whether the entry of `inputs` at this patch's place replaces the input. */
  readonly hasInput?: boolean;
}

/** Applied in order, each patch completely or not at all. */
export interface PatchTasks extends Timed {
  readonly type: 'patch_tasks';
  readonly patches: readonly TaskPatch[];
  readonly inputs: Uint8Array;
  /** One per patch, as in `SubmitTasks`. */
  readonly inputEnds: ArrayLike<number>;
}

export type PatchRejection =
  | 'task_not_found'
  | 'task_running'
  | 'task_finished'
  | 'too_many_tags'
  | 'too_many_bytes';

export interface PatchTasksReply {
  readonly outcomes: readonly TaskOutcome<PatchRejection>[];
}

/** Changes tasks that are not leased, each one completely or not at all. */
export function decidePatchTasks(decision: Decision, command: PatchTasks): PatchTasksReply {
  const outcomes: TaskOutcome<PatchRejection>[] = [];
  for (let i = 0; i < command.patches.length; i++) outcomes.push(patchOne(decision, command, i));
  return { outcomes };
}

function patchOne(
  decision: Decision,
  command: PatchTasks,
  index: number,
): TaskOutcome<PatchRejection> {
  const { state, emit, events } = decision;
  const patch = command.patches[index];
  const slot = findTask(state, command.namespace, patch.id);
  const refusal = whyNotIdle(decision.state, slot);
  if (refusal !== undefined) return { rejection: refusal, slot };

  const event = events.taskPatched;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.fields = fieldsOf(patch);
  event.priority = patch.priority ?? DEFAULT_PRIORITY;
  event.runAt = patch.runAt ?? 0;
  event.timeouts =
    patch.timeouts === undefined ? '' : timeoutsText(mergedTimeouts(decision, slot, patch));
  const tags = patch.tags === undefined ? {} : mergedTags(decision, slot, patch);
  if (Object.keys(tags).length > TAGS_MAX) return { rejection: 'too_many_tags', slot };
  event.tags = tagsText(tags);
  pointAt(event.input, command.inputs, command.inputEnds, index);
  const moreBytes = bytesAdded(decision, event);
  if (moreBytes > 0 && state.heldBytes + moreBytes > state.limits.payloadBytesMax) {
    return { rejection: 'too_many_bytes', slot };
  }
  if (event.fields !== 0) emit(event);
  return { slot };
}

/** How many bytes the patch adds; negative when the task gets smaller. */
function bytesAdded({ state }: Decision, event: EventOf<'task_patched'>): number {
  const { slot, fields } = event;
  const { tasks } = state;
  let bytes = 0;
  if (fields & PATCHED_INPUT)
    bytes += event.input.end - event.input.start - tasks.inputLength[slot];
  if (fields & PATCHED_TAGS) {
    bytes += sharedBytes(event.tags) - sharedBytes(state.texts.tags.textAt(tasks.tags[slot]));
  }
  if (fields & PATCHED_TIMEOUTS) {
    const before = state.texts.timeouts.textAt(tasks.timeouts[slot]);
    bytes += sharedBytes(event.timeouts) - sharedBytes(before);
  }
  return bytes;
}

function fieldsOf(patch: TaskPatch): number {
  return (
    (patch.priority === undefined ? 0 : PATCHED_PRIORITY) |
    (patch.runAt === undefined ? 0 : PATCHED_RUN_AT) |
    (patch.hasInput === true ? PATCHED_INPUT : 0) |
    (patch.timeouts === undefined ? 0 : PATCHED_TIMEOUTS) |
    (patch.tags === undefined ? 0 : PATCHED_TAGS)
  );
}

function mergedTimeouts({ state }: Decision, slot: Slot, { timeouts }: TaskPatch): Timeouts {
  const before = statedTimeouts(state.texts.timeouts.textAt(state.tasks.timeouts[slot]));
  return merged<number>({ ...before }, timeouts === null ? null : { ...timeouts });
}

function mergedTags({ state }: Decision, slot: Slot, { tags }: TaskPatch): Tags {
  return merged<string>(state.texts.tags.at(state.tasks.tags[slot]), tags);
}

/** JSON merge patch of one level: null clears one entry, or all of them. */
function merged<T>(
  before: Readonly<Record<string, T | undefined>>,
  patch: Readonly<Record<string, T | null | undefined>> | null | undefined,
): Record<string, T> {
  const result = new Map<string, T>();
  const parts = patch === null ? [] : [before, patch ?? {}];
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      if (value === null || value === undefined) result.delete(name);
      else result.set(name, value);
    }
  }
  return Object.fromEntries(result);
}
