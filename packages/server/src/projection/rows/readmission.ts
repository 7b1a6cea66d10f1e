import {
  parseCallback,
  parseShape,
  parseTags,
  type ReadmitTask,
  statedTimeouts,
  taskTypeOf,
} from '@sluice/core';
import type { TaskRecord } from './task-record.ts';

/** All that the core needs to run a task again that has left memory. */
export interface Readmission extends Pick<ReadmitTask, 'state' | 'spec'> {
  /** JSON; empty stands for null. */
  readonly input: string;
}

export function readmissionOf(record: TaskRecord): Readmission {
  const { state, queue, priority, retry, timeouts, tags, parent, input } = record;
  const { resources, constraintTexts } = parseShape(record.shape);
  const callback = parseCallback(record.callback);
  return {
    state,
    input,
    spec: {
      type: taskTypeOf(queue),
      priority,
      resources,
      constraints: constraintTexts,
      timeouts: statedTimeouts(timeouts),
      tags: parseTags(tags),
      ...(retry === '' ? {} : { retry: JSON.parse(retry) }),
      ...(parent === '' ? {} : { parentId: parent }),
      ...(callback === undefined ? {} : { callback }),
    },
  };
}
