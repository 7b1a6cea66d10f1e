import { PRIORITY_LEVELS, type ReadonlyState } from '@sluice/core';

/** Tasks that wait for a worker, by priority. */
export function queueDepths({ queues }: ReadonlyState): number[] {
  const depths = Array.from({ length: PRIORITY_LEVELS }, () => 0);
  for (const { open } of queues) {
    for (const { level, length } of open) depths[level] += length;
  }
  return depths;
}
