import type { PartitionLimits, QuotaName, Quotas } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import type { Configuration } from '../config/settings.ts';

/** Share of a limit that one namespace may use by default. */
const DEFAULT_SHARE = 0.9;

/** Quotas that are not set leave a tenth of each limit to other namespaces. */
export function quotasOf(
  limits: Omit<PartitionLimits, 'quotas'>,
  stated: Configuration['quotas'],
): Quotas {
  const share = (name: 'tasksMax' | 'payloadBytesMax' | 'dedupeKeysMax' | 'sessionsMax') =>
    stated[name] > 0 ? stated[name] : Math.ceil(limits[name] * DEFAULT_SHARE);
  return {
    tasksMax: share('tasksMax'),
    payloadBytesMax: share('payloadBytesMax'),
    dedupeKeysMax: share('dedupeKeysMax'),
    sessionsMax: share('sessionsMax'),
    taskTypesMax: stated.taskTypesMax,
    shapesMax: stated.shapesMax,
    schedulesMax: stated.schedulesMax,
    runsMax: stated.runsMax > 0 ? stated.runsMax : Math.ceil(limits.tasksMax * DEFAULT_SHARE),
  };
}

/** Quotas of the core, and those that the server checks itself. */
type ServerQuota = QuotaName | 'blobBytesMax' | 'waitsMax';

const MEANINGS: Readonly<Record<ServerQuota, string>> = {
  tasksMax: 'tasks that have not ended, and dead letters',
  payloadBytesMax: 'bytes of inputs, outputs and errors in memory',
  dedupeKeysMax: 'dedupe keys',
  taskTypesMax: 'task types',
  shapesMax: 'different resources and constraints of tasks',
  sessionsMax: 'worker sessions',
  schedulesMax: 'schedules',
  runsMax: 'runs that have not ended',
  blobBytesMax: 'bytes of blobs',
  waitsMax: 'requests that wait for tasks',
};

/** The refusal of a request by a quota. It names the quota, so that users know what to raise. */
export function quotaExceeded(quota: ServerQuota, max: number | undefined): SluiceError {
  const bound = max === undefined ? '' : ` (${max})`;
  return new SluiceError(
    'quota_exceeded',
    `the namespace has as many ${MEANINGS[quota]} as quotas.${quota}${bound} allows; ` +
      'try again later, or raise the setting',
    { retryAfterMs: 1000 },
  );
}
