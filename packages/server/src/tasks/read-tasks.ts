import { DEFAULT_NAMESPACE, findTask, NO_SLOT } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { taskViewJson } from './task-view.ts';

/** Those of the tasks that are in memory, as JSON texts, as they are at one moment. */
export function readTasks(
  engine: Engine,
  ids: readonly string[],
): Promise<{ readonly items: readonly string[]; readonly unknown: readonly string[] }> {
  return engine.read((state, partition) => {
    const items: string[] = [];
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const slot = findTask(state, DEFAULT_NAMESPACE, id);
      if (slot === NO_SLOT) unknown.push(id);
      else items.push(taskViewJson(state, slot, partition.progressOf(slot)));
    }
    return { items, unknown };
  });
}
