import { queueKey, type ReadonlyState, type Slot, TASK_STATES, type Tags } from '@sluice/core';
import type { TaskFilter as FilterRequest } from '@sluice/protocol';

export interface TaskFilter extends FilterRequest {
  /** Text in the input, or in the output or error. */
  readonly text?: string;
}

/** Makes a predicate for tasks: every condition of the filter must hold. */
export function makeTaskFilter(
  namespace: string,
  filter: TaskFilter,
): (state: ReadonlyState, slot: Slot) => boolean {
  const { type, state: stateName, tags, parentId, text } = filter;
  const [since, until] = [timeOf(filter.since), timeOf(filter.until)];
  const needle = text === undefined ? undefined : Buffer.from(text);
  const key = type === undefined ? undefined : queueKey(namespace, type);
  return (state, slot) => {
    const { tasks } = state;
    const queue = state.queues[tasks.queue[slot]];
    if (key === undefined ? queue.namespace !== namespace : queue.key !== key) return false;
    if (stateName !== undefined && TASK_STATES[tasks.state[slot]] !== stateName) return false;
    const submittedAt = tasks.submittedAt[slot];
    if (submittedAt < (since ?? 0) || submittedAt >= (until ?? Number.POSITIVE_INFINITY)) {
      return false;
    }
    if (parentId !== undefined && state.texts.parent.at(tasks.parent[slot]) !== parentId)
      return false;
    if (tags !== undefined && !hasTags(state.texts.tags.at(tasks.tags[slot]), tags)) return false;
    return needle === undefined || hasText(state, slot, needle);
  };
}

export function timeOf(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Date.parse(value) : value;
}

function hasTags(tags: Tags, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    return Object.hasOwn(tags, name) && tags[name] === value;
  });
}

function hasText({ tasks, payloads }: ReadonlyState, slot: Slot, needle: Buffer): boolean {
  const parts: readonly (readonly [number, number])[] = [
    [tasks.input[slot], tasks.inputLength[slot]],
    [tasks.result[slot], tasks.resultLength[slot]],
  ];
  return parts.some(([reference, length]) => {
    if (length < needle.length) return false;
    const { buffer, byteOffset } = payloads.bytesOf(reference);
    const start = byteOffset + payloads.startOf(reference);
    return Buffer.from(buffer, start, length).includes(needle);
  });
}
