import type { NamespaceUse, ReadonlyState } from '@sluice/core';
import type { Exposition } from './exposition.ts';

/** Number of namespaces, by most tasks, that get separate lines, so the page stays readable. */
const NAMESPACES_SHOWN = 200;

const QUOTAS = {
  tasksMax: (use: NamespaceUse) => use.tasks,
  payloadBytesMax: (use: NamespaceUse) => use.payloadBytes,
  dedupeKeysMax: (use: NamespaceUse) => use.dedupeKeys,
  taskTypesMax: (use: NamespaceUse) => use.taskTypes,
  shapesMax: (use: NamespaceUse) => use.shapes.size,
  schedulesMax: (use: NamespaceUse) => use.schedules,
  runsMax: ({ name }: NamespaceUse, { runs }: ReadonlyState) => runs.openIn(name),
} as const;

/** Each namespace's quotas and its use of them. */
export function writeQuotas(out: Exposition, state: ReadonlyState): void {
  const { limits, namespaces } = state;
  const { quotas } = limits;
  if (quotas === undefined) return;
  const quotaNames = Object.keys(QUOTAS) as (keyof typeof QUOTAS)[];
  out.values(
    'sluice_quota_max',
    quotaNames.map((quota) => [{ quota }, quotas[quota]]),
  );
  const shown = [...namespaces.inUse()]
    .sort((a, b) => b.tasks - a.tasks)
    .slice(0, NAMESPACES_SHOWN);
  out.values(
    'sluice_quota_used',
    shown.flatMap((use) =>
      quotaNames.map(
        (quota) => [{ namespace: use.name, quota }, QUOTAS[quota](use, state)] as const,
      ),
    ),
  );
}
