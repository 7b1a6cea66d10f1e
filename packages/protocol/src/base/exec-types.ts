/** The type of tasks that run a command. */
export const COMMAND_TYPE = 'command';

/** Kept for tasks that run a container. */
export const CONTAINER_TYPE = 'container';

/**
 * Gives a task with `exec` its type, before its schema is asked. The task is not checked yet, so it
 * may be anything.
 */
export function setExecType(task: unknown): void {
  if (typeof task !== 'object' || task === null || !('exec' in task)) return;
  const given = task as { exec: unknown; type?: unknown };
  if (given.exec !== undefined && given.type === undefined) given.type = COMMAND_TYPE;
}
