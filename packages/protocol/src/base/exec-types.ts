/** The type of tasks that run a command. */
export const COMMAND_TYPE = 'command';

/** The type of tasks that run a container. */
export const CONTAINER_TYPE = 'container';

/** The type of a task with this `exec`, which is not checked yet and may be anything. */
export function execTypeOf(exec: unknown): string {
  const hasImage = typeof exec === 'object' && exec !== null && Object.hasOwn(exec, 'image');
  return hasImage ? CONTAINER_TYPE : COMMAND_TYPE;
}

/**
 * Gives a task with `exec` its type, before its schema is asked. The task is not checked yet, so it
 * may be anything.
 */
export function setExecType(task: unknown): void {
  if (typeof task !== 'object' || task === null || !('exec' in task)) return;
  const given = task as { exec: unknown; type?: unknown };
  if (given.exec !== undefined && given.type === undefined) given.type = execTypeOf(given.exec);
}
