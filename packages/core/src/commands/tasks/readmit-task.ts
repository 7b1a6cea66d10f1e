import { NO_SLOT } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { parseTaskId } from '../../base/task-id.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import type { QuotaName } from '../../state/quotas.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import { isTerminal, SUCCEEDED } from '../../task/task-state.ts';
import { changeInputOfKey } from './change-input.ts';
import { quotaOfReadmission } from './retry-quota.ts';
import { fillDetails } from './submit-tasks.ts';

/** Retries a task that left memory. The command carries everything known about the task. */
export interface ReadmitTask extends Timed, Authored {
  readonly type: 'readmit_task';
  readonly id: string;
  /** Number of the state in which it ended. */
  readonly state: number;
  readonly spec: Omit<TaskSpec, 'runAt' | 'delayMs'>;
  readonly input: Uint8Array;
  /** Present when the operator gave it another input: the hash of `input`, as in `NewInput`. */
  readonly changedWords?: Uint32Array;
}

type Refusal =
  | 'task_not_found'
  | 'task_finished'
  | 'too_many_tasks'
  | 'too_many_bytes'
  | 'too_many_types'
  | 'quota_exceeded';

export interface ReadmitTaskReply extends TaskOutcome<Refusal> {
  /** The quota that is exceeded. */
  readonly quota?: QuotaName;
}

/** Brings a task that left memory back and runs it again. */
export function decideReadmitTask(decision: Decision, command: ReadmitTask): ReadmitTaskReply {
  const { state, emit, events } = decision;
  const key = parseTaskId(command.id);
  // A task in memory is retried there, because the data in this command may be outdated.
  const isGone = key !== undefined && state.tasks.find(key.number) === NO_SLOT;
  const isOurs =
    key?.partition === state.partition && key.number > 0 && key.number < state.nextTask;
  if (!isGone || !isOurs) return { rejection: 'task_not_found', slot: NO_SLOT };
  const refusal = whyNot(decision, command);
  if (refusal !== undefined) return { rejection: refusal, slot: NO_SLOT };
  const quota = quotaOfReadmission(decision, command);
  if (quota !== undefined) return { rejection: 'quota_exceeded', slot: NO_SLOT, quota };

  const event = events.taskReadmitted;
  event.slot = state.tasks.nextFree();
  event.task = key.number;
  event.submittedAt = key.submittedAt;
  event.dedupe = state.dedupe.entryOf(key.number) + 1;
  const queue = queueKey(command.namespace, command.spec.type);
  fillDetails(event, command.spec, queue, decision.shapeTexts);
  event.input.bytes = command.input;
  event.input.start = 0;
  event.input.end = command.input.length;
  emit(event);
  const { slot } = event;
  if (command.changedWords === undefined) return { slot };
  changeInputOfKey(decision, slot, { bytes: command.input, words: command.changedWords });
  const { namespace, by } = command;
  audit(decision, by, { namespace, action: 'task_input_changed' });
  return { slot };
}

function whyNot({ state }: Decision, command: ReadmitTask): Refusal | undefined {
  if (command.state === SUCCEEDED || !isTerminal(command.state)) return 'task_finished';
  if (state.tasks.count + state.runs.promised >= state.limits.tasksMax) return 'too_many_tasks';
  if (state.heldBytes + command.input.length > state.limits.payloadBytesMax) {
    return 'too_many_bytes';
  }
  const isKnown = state.queueOf(queueKey(command.namespace, command.spec.type)) !== undefined;
  return isKnown || state.queueCount < TASK_TYPES_MAX ? undefined : 'too_many_types';
}
