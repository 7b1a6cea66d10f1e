import type { SessionId } from '../base/ids.ts';
import { taskTypeOf } from '../base/queue-key.ts';
import type { Resources } from '../task/resources.ts';
import type { Session } from './roster.ts';

/** A worker's session as people see it. */
export interface SessionView {
  /** Secret: it is all that is needed to act as the session. */
  readonly id: SessionId;
  readonly namespace: string;
  readonly worker: string;
  readonly version: string;
  readonly types: readonly OfferedTypeView[];
  readonly labels: Readonly<Record<string, string>>;
  /** Unlimited kinds are left out. */
  readonly capacity: Resources;
  readonly used: Resources;
  readonly leaseMs: number;
  readonly connected: boolean;
  readonly draining: boolean;
  readonly heardAt: number;
}

interface OfferedTypeView {
  readonly type: string;
  /** Absent when only the worker's room is the limit. */
  readonly concurrency?: number;
  /** Why the session takes none of this type for now. */
  readonly unavailable?: string;
  /** Number of leases that the session holds. */
  readonly leased: number;
}

export function viewSession(session: Session): SessionView {
  const { id, namespace, worker, version, room } = session;
  const { leaseMs, connected, draining, heardAt } = session;
  return {
    id,
    namespace,
    worker,
    version,
    types: session.types.map((key, place) => viewType(session, key, place)),
    labels: Object.fromEntries(room.labels),
    capacity: room.offeredAmounts(),
    used: room.usedAmounts(),
    leaseMs,
    connected,
    draining,
    heardAt,
  };
}

function viewType(session: Session, key: string, place: number): OfferedTypeView {
  const { typeLimits, typeUse, typeLacks } = session;
  const limit = typeLimits[place];
  const unavailable = typeLacks[place];
  if (unavailable !== undefined) {
    return { type: taskTypeOf(key), unavailable, leased: typeUse[place] };
  }
  return {
    type: taskTypeOf(key),
    ...(limit === Number.POSITIVE_INFINITY ? {} : { concurrency: limit }),
    leased: typeUse[place],
  };
}
