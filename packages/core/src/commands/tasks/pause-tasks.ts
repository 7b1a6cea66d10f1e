import type { TaskNumber } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findTask, whyNotIdle } from '../../state/find-task.ts';
import { PAUSED } from '../../task/task-state.ts';

export interface PauseTask extends Timed {
  readonly type: 'pause_task';
  readonly id: string;
}

export interface ResumeTask extends Timed {
  readonly type: 'resume_task';
  readonly id: string;
}

export type PauseTaskReply = TaskOutcome<'task_not_found' | 'task_running' | 'task_finished'>;

/** Pauses a waiting or queued task. A task that is already paused stays paused. */
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

/** Resumes a task. A task that is not paused stays as it is. */
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
