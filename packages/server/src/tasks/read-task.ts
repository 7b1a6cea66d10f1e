import { findTask, NO_SLOT } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import { taskViewJson } from './task-view.ts';

/** The current task, as JSON text. */
export function readTask(engine: Engine, namespace: string, id: string): Promise<string> {
  return engine.readShown((state, partition, shows) => {
    const slot = findTask(state, namespace, id);
    if (slot === NO_SLOT) throw taskNotFound(id);
    shows.task(slot);
    return taskViewJson(state, slot, partition.progressOf(slot));
  });
}

export function taskNotFound(id: string): SluiceError {
  return new SluiceError('task_not_found', `no task '${id}'`);
}
