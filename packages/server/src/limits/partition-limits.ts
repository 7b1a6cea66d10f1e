import type { PartitionLimits } from '@sluice/core';
import type { Configuration } from '../config/settings.ts';
import { quotasOf } from './quotas.ts';

/** The settings that limit what a partition holds. */
export type LimitSettings = Pick<Configuration, 'limits' | 'quotas'>;

const UNSENT_BYTES_MAX = 16 * 1024 * 1024;

/** The limits of a partition with this configuration. */
export function partitionLimits({ limits, quotas }: LimitSettings): PartitionLimits {
  const shared = { ...limits, unsentBytesMax: UNSENT_BYTES_MAX };
  return { ...shared, quotas: quotasOf(shared, quotas) };
}
