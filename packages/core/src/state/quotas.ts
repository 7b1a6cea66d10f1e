import type { NamespacesReader, NamespaceUse } from './namespaces.ts';
import type { RunsReader } from './runs/runs.ts';

/** Limits of one namespace on what all namespaces share. */
export interface Quotas {
  /** Tasks that have not ended, and dead letters. */
  readonly tasksMax: number;
  /** Bytes of their inputs, outputs and errors. */
  readonly payloadBytesMax: number;
  readonly dedupeKeysMax: number;
  readonly taskTypesMax: number;
  /** Different resources and constraints of its tasks: matching looks at each of them. */
  readonly shapesMax: number;
  /** Worker sessions. */
  readonly sessionsMax: number;
  readonly schedulesMax: number;
  /** Runs that have not ended, those that other runs started included. */
  readonly runsMax: number;
}

export type QuotaName = keyof Quotas;

/** What a command would add to the use of a namespace. */
export type AddedUse = Partial<
  Pick<NamespaceUse, 'tasks' | 'payloadBytes' | 'dedupeKeys' | 'taskTypes' | 'schedules'> & {
    shapes: number;
  }
>;

const QUOTA_OF = {
  tasks: 'tasksMax',
  payloadBytes: 'payloadBytesMax',
  dedupeKeys: 'dedupeKeysMax',
  taskTypes: 'taskTypesMax',
  shapes: 'shapesMax',
  schedules: 'schedulesMax',
} as const;

/** Whether the namespace would have too many runs. */
export function exceedsRuns(
  { limits, runs }: { limits: { quotas?: Quotas }; runs: Pick<RunsReader, 'openIn'> },
  namespace: string,
  added: number,
): boolean {
  const { quotas } = limits;
  return quotas !== undefined && runs.openIn(namespace) + added > quotas.runsMax;
}

/** The first quota that the namespace would exceed; undefined when there is room. */
export function exceededQuota(
  { limits, namespaces }: { limits: { quotas?: Quotas }; namespaces: NamespacesReader },
  namespace: string,
  added: AddedUse,
): QuotaName | undefined {
  const { quotas } = limits;
  if (quotas === undefined) return undefined;
  const use = namespaces.find(namespace);
  for (const [count, quota] of Object.entries(QUOTA_OF) as [keyof AddedUse, QuotaName][]) {
    const more = added[count] ?? 0;
    const used = count === 'shapes' ? use?.shapes.size : use?.[count];
    if (more > 0 && (used ?? 0) + more > quotas[quota]) return quota;
  }
  return undefined;
}
