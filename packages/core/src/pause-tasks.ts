import { audit } from './decide-access.ts';
import type { Decision } from './decision.ts';
import { findTask, whyNotIdle } from './find-task.ts';
import type { TaskNumber } from './ids.ts';
import { queueKey } from './queue-key.ts';
import { TASK_TYPES_MAX } from './state.ts';
import type {
  PauseTask,
  PauseTaskReply,
  ResumeTask,
  SetQueuePaused,
  SetQueuePausedReply,
} from './task-commands.ts';
import { PAUSED } from './task-state.ts';

/** An operator holds a task that waits or is queued. One that is held back already stays so. */
export function decidePauseTask(decision: Decision, command: PauseTask): PauseTaskReply {
  const { state, emit, events } = decision;
  const slot = findTask(state, command.namespace, command.id);
  const refusal = whyNotIdle(decision.state, slot);
  if (refusal !== undefined) return { rejection: refusal, slot };
  if (state.tasks.state[slot] !== PAUSED) {
    events.taskPaused.slot = slot;
    events.taskPaused.task = state.tasks.number[slot] as TaskNumber;
    emit(events.taskPaused);
  }
  return { slot };
}

/** A task that is not paused has nothing to resume, and goes on. */
export function decideResumeTask(decision: Decision, command: ResumeTask): PauseTaskReply {
  const { state, emit, events } = decision;
  const slot = findTask(state, command.namespace, command.id);
  const refusal = whyNotIdle(decision.state, slot);
  if (refusal !== undefined) return { rejection: refusal, slot };
  if (state.tasks.state[slot] !== PAUSED) return { slot };
  events.taskResumed.slot = slot;
  events.taskResumed.task = state.tasks.number[slot] as TaskNumber;
  emit(events.taskResumed);
  return { slot };
}

/** Whether a queue gives out its tasks is a property of the queue: one event, however many wait. */
export function decideSetQueuePaused(
  decision: Decision,
  command: SetQueuePaused,
): SetQueuePausedReply {
  const { state, emit, events } = decision;
  const key = queueKey(command.namespace, command.taskType);
  const queue = state.queueOf(key);
  if ((queue?.paused ?? false) === command.paused) return {};
  if (queue === undefined && state.queues.length >= TASK_TYPES_MAX) {
    return { rejection: 'too_many_types' };
  }
  events.queueChanged.taskType = key;
  events.queueChanged.paused = command.paused;
  emit(events.queueChanged);
  const action = command.paused ? 'queue_paused' : 'queue_resumed';
  audit(decision, command.by, { namespace: command.namespace, action });
  return {};
}
