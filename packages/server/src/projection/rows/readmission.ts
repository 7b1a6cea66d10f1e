import { type ReadmitTask, specOfTexts, taskTypeOf } from '@sluice/core';
import type { TaskRecord } from '../records/task-record.ts';

/** What the core needs to run a task again that has left memory. */
export interface Readmission extends Pick<ReadmitTask, 'state' | 'spec'> {
  /** JSON; empty stands for null. */
  readonly input: string;
  /** A step's task is not run again by itself. */
  readonly isOfRun: boolean;
}

export function readmissionOf(record: TaskRecord): Readmission {
  const { state, queue, priority, input } = record;
  const isOfRun = record.step !== undefined;
  const spec = { type: taskTypeOf(queue), priority, ...specOfTexts(record) };
  return { state, input, spec, isOfRun };
}
