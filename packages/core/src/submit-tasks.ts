import { pointAt, type SubmitTasks, type SubmitTasksReply, type TaskSpec } from './command.ts';
import type { Decision } from './decision.ts';
import type { Slot } from './ids.ts';
import { matchQueues } from './matching.ts';
import { retryText } from './retry-policy.ts';
import { type ReadonlyState, TASK_TYPES_MAX } from './state.ts';
import { DEFAULT_PRIORITY } from './task-state.ts';

/** Accepts all tasks or none, and leases out those for which a worker has room. */
export function decideSubmitTasks(decision: Decision, command: SubmitTasks): SubmitTasksReply {
  const rejection = whyRefused(decision, command);
  if (rejection !== undefined) return { rejection, slots: [] };

  const slots: Slot[] = [];
  const event = decision.events.taskSubmitted;
  for (let i = 0; i < command.tasks.length; i++) {
    const task = command.tasks[i];
    event.slot = decision.state.tasks.nextFree();
    event.task = decision.state.nextTask;
    event.taskType = task.type;
    event.priority = task.priority ?? DEFAULT_PRIORITY;
    event.retry = retryText(task.retry);
    event.runAt = runAtOf(task, decision.now);
    pointAt(event.input, command.inputs, command.inputEnds, i);
    decision.emit(event);
    slots.push(event.slot);
  }
  matchQueues(decision, touchedQueues(decision, command));
  return { slots };
}

function runAtOf(task: TaskSpec, now: number): number {
  return task.delayMs === undefined ? (task.runAt ?? 0) : now + task.delayMs;
}

/** Most batches have one type, so comparing with the type before saves nearly every look-up. */
function touchedQueues({ state }: Decision, command: SubmitTasks): ReadonlyState['queues'] {
  const touched = new Set<ReadonlyState['queues'][number]>();
  let previous = '';
  for (const { type } of command.tasks) {
    if (type === previous) continue;
    previous = type;
    const queue = state.queueOf(type);
    if (queue !== undefined) touched.add(queue);
  }
  return [...touched];
}

function whyRefused(
  { state }: Decision,
  command: SubmitTasks,
): SubmitTasksReply['rejection'] | undefined {
  if (state.tasks.count + command.tasks.length > state.limits.tasksMax) return 'too_many_tasks';
  if (state.queues.length + command.tasks.length <= TASK_TYPES_MAX) return undefined;

  const unknown = new Set<string>();
  for (const { type } of command.tasks) if (state.queueOf(type) === undefined) unknown.add(type);
  return state.queues.length + unknown.size > TASK_TYPES_MAX ? 'too_many_types' : undefined;
}
