import { type ReadmitRun, taskTypeOf } from '@sluice/core';
import type { RunRecord } from './run-record.ts';

/** What the core needs to restart a run that has left memory. */
export interface RunReadmission
  extends Pick<
    ReadmitRun,
    'workflow' | 'version' | 'priority' | 'correlation' | 'tags' | 'startedBy'
  > {
  /** JSON text or the reference to a blob; empty stands for null. */
  readonly input: string;
}

export function runReadmissionOf(record: RunRecord): RunReadmission {
  const { queue, version, priority, parent: correlation, tags, input, startedBy } = record;
  return {
    workflow: taskTypeOf(queue),
    ...{ version, priority, correlation, tags, input },
    ...(startedBy === undefined ? {} : { startedBy }),
  };
}
