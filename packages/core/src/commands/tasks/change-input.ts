import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { PATCHED_INPUT } from '../../events/task-events.ts';
import { CLAIM_WORDS, type DedupeClaim, KEY_WORDS } from '../../task/dedupe-claim.ts';

/** The input that a task gets when it is retried. */
export interface NewInput {
  /** JSON text; empty for null. Read before `execute` returns. */
  readonly bytes: Uint8Array;
  /** Four words: the hash of the input, as in the second half of a claim. */
  readonly words: Uint32Array;
}

/**
 * Gives an ended task another input, before it is retried.
 *
 * retry.patched-before: `task_patched` finds an ended task only if the same command retries that
 * task next. So readers of the log know which inputs were replaced by a retry.
 */
export function changeInput(decision: Decision, slot: Slot, input: NewInput): void {
  const { state, events, emit } = decision;
  const patched = events.taskPatched;
  patched.slot = slot;
  patched.task = state.tasks.number[slot] as TaskNumber;
  patched.fields = PATCHED_INPUT;
  patched.priority = 0;
  patched.runAt = 0;
  patched.timeouts = '';
  patched.tags = '';
  Object.assign(patched.input, { bytes: input.bytes, start: 0, end: input.bytes.length });
  emit(patched);
  changeInputOfKey(decision, slot, input);
}

/** The dedupe key of the task, if it is remembered, stands for the new input from now on. */
export function changeInputOfKey(decision: Decision, slot: Slot, { words }: NewInput): void {
  const { dedupe, tasks } = decision.state;
  const entry = (tasks.dedupe[slot] - 1) as Slot;
  const task = tasks.number[slot] as TaskNumber;
  if (entry < 0 || dedupe.task[entry] !== task) return;
  const windowMs = dedupe.expiresAt[entry] - dedupe.submittedAt[entry];
  const claim = { words: new Uint32Array(CLAIM_WORDS), start: 0, windowMs };
  dedupe.copyKey(entry, claim.words);
  claim.words.set(words, KEY_WORDS);
  setInputOfKey(decision, entry, claim);
}

export function setInputOfKey(decision: Decision, entry: Slot, claim: DedupeClaim): void {
  const { state, events, emit } = decision;
  if (state.dedupe.hasSameInput(entry, claim)) return;
  const changed = events.dedupeInputChanged;
  changed.slot = entry;
  changed.task = state.dedupe.task[entry] as TaskNumber;
  Object.assign(changed.dedupe, claim);
  emit(changed);
}
