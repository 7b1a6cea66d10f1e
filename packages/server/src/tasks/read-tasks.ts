import { findTask, NO_SLOT } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { AnswerRoom } from '../answers/answer-room.ts';
import { taskViewJson } from './task-view.ts';

export interface TasksRead {
  /** As JSON texts. */
  readonly items: readonly string[];
  /** Ids of unknown tasks. */
  readonly unknown: readonly string[];
  /** Ids of tasks that did not fit into the answer. */
  readonly notIncluded: readonly string[];
}

/**
 * Those of the tasks that are in memory, all read at one moment. That a task is not there may not
 * be durable: the caller waits before it says so.
 */
export function readTasks(
  engine: Engine,
  namespace: string,
  ids: readonly string[],
  room: AnswerRoom,
): Promise<TasksRead> {
  return engine.readShown((state, partition, shows) => {
    const items: string[] = [];
    const unknown: string[] = [];
    const notIncluded: string[] = [];
    for (const id of new Set(ids)) {
      const slot = findTask(state, namespace, id);
      if (slot === NO_SLOT) unknown.push(id);
      else if (room.isFull) notIncluded.push(id);
      else {
        shows.task(slot);
        items.push(room.take(taskViewJson(state, slot, partition.progressOf(slot))));
      }
    }
    return { items, unknown, notIncluded };
  });
}
