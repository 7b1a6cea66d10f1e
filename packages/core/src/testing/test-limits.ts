import type { PartitionLimits } from '../state/state.ts';

/** Low ones, so that tests reach them. */
export const DEFAULT_LIMITS: PartitionLimits = {
  tasksMax: 100,
  finishedTasksMax: 50,
  deadLettersMax: 50,
  callbacksMax: 50,
  sessionsMax: 100,
  dedupeKeysMax: 100,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
  arenaChunkBytes: 1024,
};
