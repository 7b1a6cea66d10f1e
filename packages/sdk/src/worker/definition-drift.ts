import type { TaskDefaults } from '../task/task-options.ts';

/** Fields whose parts have fixed names, so that a part can be named. */
const NAMED_PARTS: readonly string[] = ['resources', 'retry', 'timeouts', 'callback'];

/** The server never shows it. */
const HIDDEN = 'callback.secret';

/**
 * Names of the fields in which two definitions differ, such as `priority` or `retry.maxAttempts`.
 * The order of names in an object does not matter.
 */
export function differingFields(own: TaskDefaults, registered: TaskDefaults): string[] {
  const ours = partsOf(own);
  const theirs = partsOf(registered);
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  return names.filter((name) => name !== HIDDEN && ours.get(name) !== theirs.get(name));
}

/** The value of each field or part as JSON, by name. */
function partsOf(definition: TaskDefaults): Map<string, string> {
  const parts = new Map<string, string>();
  for (const [name, value] of Object.entries(definition as Record<string, unknown>)) {
    if (value === undefined) continue;
    if (!NAMED_PARTS.includes(name)) {
      parts.set(name, sortedJson(value));
      continue;
    }
    for (const [part, partValue] of Object.entries(value as Record<string, unknown>)) {
      if (partValue !== undefined) parts.set(`${name}.${part}`, sortedJson(partValue));
    }
  }
  return parts;
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
