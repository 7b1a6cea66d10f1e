import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Redrive } from '../../state/redrives.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { isDead } from '../../task/task-state.ts';

export type Scope = Pick<Redrive, 'namespace' | 'taskType'>;

/** The dead letter of the scope that ended first. */
export function oldestDead(state: ReadonlyState, { namespace, taskType }: Scope): Slot {
  if (taskType === '') return state.deadLetters.firstOfNamespace(namespace);
  const queue = state.queueOf(taskType);
  return queue === undefined ? NO_SLOT : state.deadLetters.firstOfQueue(queue.index);
}

export function countDead(state: ReadonlyState, { namespace, taskType }: Scope): number {
  if (taskType === '') return state.deadLetters.countOfNamespace(namespace);
  const queue = state.queueOf(taskType);
  return queue === undefined ? 0 : state.deadLetters.countOfQueue(queue.index);
}

/** The slots of the tasks that are dead letters of the namespace, without duplicates. */
export function deadAmong(
  state: ReadonlyState,
  namespace: string,
  tasks: readonly number[],
): Slot[] {
  return [...new Set(tasks)].flatMap((number) => {
    const slot = state.tasks.find(number as TaskNumber);
    const isDeadLetter =
      slot !== NO_SLOT && isDead(state.tasks.state[slot]) && state.tasks.isDiscarded[slot] === 0;
    if (!isDeadLetter) return [];
    return state.queues[state.tasks.queue[slot]].namespace === namespace ? [slot] : [];
  });
}
