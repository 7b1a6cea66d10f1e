import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import {
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
} from '../../events/task-events.ts';
import type { DedupeClaim } from '../../task/dedupe-claim.ts';
import { tagsText } from '../../task/task-labels.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { DEFAULT_PRIORITY, QUEUED } from '../../task/task-state.ts';
import { setInputOfKey } from './change-input.ts';

/** What a task takes from a later submit with the same dedupe key. */
export interface Replacement {
  readonly slot: Slot;
  /** With the defaults of its type. */
  readonly task: TaskSpec;
  /** When it may run; 0 for immediately. */
  readonly runAt: number;
  readonly input: { readonly bytes: Uint8Array; readonly start: number; readonly end: number };
  readonly claim: DedupeClaim;
}

/**
 * A task that no worker holds takes the input, time, priority and tags of a later submit. Its key
 * stands for the new input from then on; the window of the key does not change.
 */
export function replaceTask(decision: Decision, replacement: Replacement): void {
  const { state, events, emit } = decision;
  const { tasks } = state;
  const { slot, task, runAt, input, claim } = replacement;

  const patched = events.taskPatched;
  patched.slot = slot;
  patched.task = tasks.number[slot] as TaskNumber;
  patched.priority = task.priority ?? DEFAULT_PRIORITY;
  patched.runAt = runAt;
  patched.timeouts = '';
  patched.tags = tagsText(task.tags);
  Object.assign(patched.input, input);
  // A queued task keeps its place when neither its time nor its priority changes.
  const isDue = runAt <= decision.now && tasks.state[slot] === QUEUED;
  patched.fields =
    PATCHED_INPUT |
    (patched.priority === tasks.priority[slot] ? 0 : PATCHED_PRIORITY) |
    (isDue ? 0 : PATCHED_RUN_AT) |
    (patched.tags === state.texts.tags.textAt(tasks.tags[slot]) ? 0 : PATCHED_TAGS);
  emit(patched);

  setInputOfKey(decision, (tasks.dedupe[slot] - 1) as Slot, claim);
}
