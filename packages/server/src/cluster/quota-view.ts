import type { PartitionReader, ReadonlyState } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';

export interface QuotaParts {
  readonly engine: Engine;
  readonly blobs: BlobStore;
  readonly waiters: TaskWaiters;
}

interface QuotaUse {
  readonly used: number;
  readonly max: number;
}

/** How long an answer waits for durable figures (L2) before it omits them. */
const DURABLE_MS_MAX = 1000;

/** A namespace's use of each quota; undefined while the disk hangs or after the engine stopped. */
export async function quotaView(
  { engine, blobs, waiters }: QuotaParts,
  namespace: string,
): Promise<Readonly<Record<string, QuotaUse>> | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), DURABLE_MS_MAX);
  });
  try {
    const durable = engine.read((...seen) => coreQuotas(namespace, ...seen));
    const core = await Promise.race([durable, timeout]);
    if (core === undefined) return undefined;
    return {
      ...core,
      waitsMax: { used: waiters.waitsOf(namespace), max: waiters.waitsMax },
      blobBytesMax: { used: blobs.bytesOf(namespace), max: blobs.namespaceBytesMax },
    };
  } catch {
    // An engine that stopped has already reported it.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function coreQuotas(namespace: string, state: ReadonlyState, partition: PartitionReader) {
  const { quotas } = state.limits;
  if (quotas === undefined) return {};
  const use = state.namespaces.find(namespace);
  return {
    tasksMax: { used: use?.tasks ?? 0, max: quotas.tasksMax },
    payloadBytesMax: { used: use?.payloadBytes ?? 0, max: quotas.payloadBytesMax },
    dedupeKeysMax: { used: use?.dedupeKeys ?? 0, max: quotas.dedupeKeysMax },
    taskTypesMax: { used: use?.taskTypes ?? 0, max: quotas.taskTypesMax },
    shapesMax: { used: use?.shapes.size ?? 0, max: quotas.shapesMax },
    schedulesMax: { used: use?.schedules ?? 0, max: quotas.schedulesMax },
    runsMax: { used: state.runs.openIn(namespace), max: quotas.runsMax },
    sessionsMax: { used: partition.sessionCountOf(namespace), max: quotas.sessionsMax },
  };
}
