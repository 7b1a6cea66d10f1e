import type { PartitionLimits } from '@sluice/core';
import type { Configuration } from './config/settings.ts';

const UNSENT_BYTES_MAX = 16 * 1024 * 1024;

/** What the configuration means for a partition. */
export function partitionLimits(limits: Configuration['limits']): PartitionLimits {
  return { ...limits, unsentBytesMax: UNSENT_BYTES_MAX };
}
