import { DEFAULT_NAMESPACE, findTask, NO_SLOT } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import { taskViewJson } from './task-view.ts';

/** The task as it is, as JSON text. */
export async function readTask(engine: Engine, id: string): Promise<string> {
  const viewJson = await engine.read((state) => {
    const slot = findTask(state, DEFAULT_NAMESPACE, id);
    return slot === NO_SLOT ? undefined : taskViewJson(state, slot);
  });
  if (viewJson === undefined) throw new SluiceError('task_not_found', `no task '${id}'`);
  return viewJson;
}
