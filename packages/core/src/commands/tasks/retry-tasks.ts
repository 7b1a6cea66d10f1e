import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findTask } from '../../state/find-task.ts';
import type { QuotaName } from '../../state/quotas.ts';
import { isTerminal, SUCCEEDED } from '../../task/task-state.ts';
import { changeInput, type NewInput } from './change-input.ts';
import { quotaOfRetry } from './retry-quota.ts';

/** Retries tasks that ended without success. They get all their attempts again. */
export interface RetryTasks extends Timed, Authored {
  readonly type: 'retry_tasks';
  readonly ids: readonly string[];
  /** Replaces the input of each task; absent to keep it. */
  readonly input?: NewInput;
}

type Refusal =
  | 'task_not_found'
  | 'task_not_finished'
  | 'task_finished'
  | 'task_of_run'
  | 'too_many_bytes'
  | 'quota_exceeded';

export interface RetryOutcome extends TaskOutcome<Refusal> {
  /** The quota that is exceeded. */
  readonly quota?: QuotaName;
}

export interface RetryTasksReply {
  readonly outcomes: readonly RetryOutcome[];
}

/**
 * Retries tasks that ended without success. Ids stay the same; attempts count from 1. Only a retry
 * that changes an input is audited.
 */
export function decideRetryTasks(decision: Decision, command: RetryTasks): RetryTasksReply {
  const { namespace, input, by } = command;
  const outcomes = command.ids.map((id): RetryOutcome => {
    const slot = findTask(decision.state, namespace, id);
    const rejection = whyNot(decision, slot, input);
    if (rejection !== undefined) return { rejection, slot };
    const inputBytes = input?.bytes.length ?? decision.state.tasks.inputLength[slot];
    const quota = quotaOfRetry(decision.state, namespace, { slot, inputBytes });
    if (quota !== undefined) return { rejection: 'quota_exceeded', slot, quota };
    // Before the retry: only a change by a retry finds an ended task (retry.patched-before).
    if (input !== undefined) changeInput(decision, slot, input);
    retry(decision, slot, 0);
    return { slot };
  });
  const isChange = input !== undefined && outcomes.some(({ rejection }) => rejection === undefined);
  if (isChange) audit(decision, by, { namespace, action: 'task_input_changed' });
  return { outcomes };
}

function whyNot({ state }: Decision, slot: Slot, input: NewInput | undefined): Refusal | undefined {
  if (slot === NO_SLOT) return 'task_not_found';
  const { tasks, heldBytes, limits } = state;
  const taskState = tasks.state[slot];
  if (taskState === SUCCEEDED) return 'task_finished';
  if (!isTerminal(taskState)) return 'task_not_finished';
  // Its run has already decided what follows from its end.
  if (tasks.step[slot] !== 0) return 'task_of_run';
  if (input === undefined) return undefined;
  const addedBytes = input.bytes.length - tasks.inputLength[slot];
  const hasRoom = addedBytes <= 0 || heldBytes + addedBytes <= limits.payloadBytesMax;
  return hasRoom ? undefined : 'too_many_bytes';
}

export function retry({ state, emit, events }: Decision, slot: Slot, redrive: number): void {
  events.taskRetried.slot = slot;
  events.taskRetried.task = state.tasks.number[slot] as TaskNumber;
  events.taskRetried.redrive = redrive;
  emit(events.taskRetried);
}
