import type { Decision } from './decision.ts';
import { findTask } from './find-task.ts';
import { NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import { queueKey } from './queue-key.ts';
import { TASK_TYPES_MAX } from './state.ts';
import { fillDetails } from './submit-tasks.ts';
import type {
  ReadmitTask,
  ReadmitTaskReply,
  RetryTasks,
  RetryTasksReply,
} from './task-commands.ts';
import { parseTaskId } from './task-id.ts';
import { isTerminal, SUCCEEDED } from './task-state.ts';

/** Runs tasks again that ended without success: the same ids, attempts from 1. */
export function decideRetryTasks(decision: Decision, command: RetryTasks): RetryTasksReply {
  const outcomes = command.ids.map((id) => {
    const slot = findTask(decision.state, command.namespace, id);
    if (slot === NO_SLOT) return { rejection: 'task_not_found' as const, slot };
    const taskState = decision.state.tasks.state[slot];
    if (taskState === SUCCEEDED) return { rejection: 'task_finished' as const, slot };
    if (!isTerminal(taskState)) return { rejection: 'task_not_finished' as const, slot };
    retry(decision, slot, 0);
    return { slot };
  });
  return { outcomes };
}

export function retry({ state, emit, events }: Decision, slot: Slot, redrive: number): void {
  events.taskRetried.slot = slot;
  events.taskRetried.task = state.tasks.number[slot] as TaskNumber;
  events.taskRetried.redrive = redrive;
  emit(events.taskRetried);
}

/** A task that left memory comes back whole and runs again. */
export function decideReadmitTask(decision: Decision, command: ReadmitTask): ReadmitTaskReply {
  const { state, emit, events } = decision;
  const key = parseTaskId(command.id);
  // One that is in memory is retried there; what the command knows of it may be old.
  const isGone = key !== undefined && state.tasks.find(key.number) === NO_SLOT;
  const isOurs =
    key?.partition === state.partition && key.number > 0 && key.number < state.nextTask;
  if (!isGone || !isOurs) return { rejection: 'task_not_found', slot: NO_SLOT };
  const refusal = whyNot(decision, command);
  if (refusal !== undefined) return { rejection: refusal, slot: NO_SLOT };

  const event = events.taskReadmitted;
  event.slot = state.tasks.nextFree();
  event.task = key.number;
  event.submittedAt = key.submittedAt;
  event.dedupe = state.dedupe.task[command.dedupe - 1] === key.number ? command.dedupe : 0;
  fillDetails(event, command.spec, queueKey(command.namespace, command.spec.type));
  event.shape = decision.shapeTexts.textOf(command.spec);
  event.input.bytes = command.input;
  event.input.start = 0;
  event.input.end = command.input.length;
  emit(event);
  return { slot: event.slot };
}

function whyNot({ state }: Decision, command: ReadmitTask): ReadmitTaskReply['rejection'] {
  if (command.state === SUCCEEDED || !isTerminal(command.state)) return 'task_finished';
  if (state.tasks.count >= state.limits.tasksMax) return 'too_many_tasks';
  if (state.heldBytes + command.input.length > state.limits.payloadBytesMax) {
    return 'too_many_bytes';
  }
  const isKnown = state.queueOf(queueKey(command.namespace, command.spec.type)) !== undefined;
  return isKnown || state.queues.length < TASK_TYPES_MAX ? undefined : 'too_many_types';
}
