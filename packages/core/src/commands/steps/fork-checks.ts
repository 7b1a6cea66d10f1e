import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import { TASK_TYPE } from '../../workflow/step-task.ts';
import { checkWhich } from './child-runs.ts';

/** What is known only when a dynamic fork begins, and may be wrong. */

/** The version of a workflow that is known only at run time; 0 for the newest. */
export function versionOf(name: unknown, version: unknown, where = 'forkTaskWorkflow'): number {
  checkWhich({ name: name as string, version: version as number | null }, where);
  return (version as number | null) ?? 0;
}

/** A task type that is known only at run time. */
export function checkType(name: unknown, what: string): asserts name is string {
  if (typeof name === 'string' && TASK_TYPE.test(name)) return;
  const shown = String(jsonText(name ?? null)).slice(0, SHOWN_MAX);
  const rule = 'a task type has letters, digits and . _ : - and at most 128 of them';
  throw new ValueError('bad_value', `${what} is ${shown}; ${rule}`);
}

/** Characters of a bad value in a message. */
const SHOWN_MAX = 100;

export function checkList(kind: string, what: string): void {
  if (kind === 'array') return;
  throw new ValueError('bad_value', `${what} must be a list, and it is a ${kind}`);
}

export function kindName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
