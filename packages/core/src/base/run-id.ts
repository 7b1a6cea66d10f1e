import { parseTaskId, type TaskKey, taskIdText } from './task-id.ts';

/**
 * The text form of a run's identity: `r_` and the same parts as in the id of a task. Runs and tasks
 * share one sequence of numbers.
 */
export function runIdText(key: TaskKey): string {
  return `r${taskIdText(key).slice(1)}`;
}

/** `undefined` when the text cannot be the id of any run. */
export function parseRunId(text: string): TaskKey | undefined {
  return text.startsWith('r_') ? parseTaskId(`t${text.slice(1)}`) : undefined;
}
