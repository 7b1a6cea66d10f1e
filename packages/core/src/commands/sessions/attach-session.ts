import type { SessionId, Slot } from '../../base/ids.ts';
import { parseLeaseToken } from '../../base/lease-token.ts';
import type { Decision } from '../../decision/decision.ts';
import { loseLease } from '../../decision/lease-ends.ts';
import { tellToStop } from '../../decision/stop-attempts.ts';
import { listenFor } from '../../matching/matching.ts';
import type { Labels } from '../../task/constraints.ts';
import { isHeld, NO_STOP, NOT_ARRIVED_REASON } from '../../task/task-state.ts';
import type { Offer } from '../../workers/room.ts';
import { makeSession, type OfferedType, type Session } from '../../workers/roster.ts';
import { countUse, heldSlots } from './held-slots.ts';

/** A worker opened a stream, for a new session or to resume one. */
export interface AttachSession {
  readonly type: 'attach_session';
  readonly now: number;
  /** Random id, used unless the worker resumes a session. */
  readonly newSession: SessionId;
  readonly namespace: string;
  readonly worker: string;
  readonly version: string;
  readonly types: readonly OfferedType[];
  readonly capacity: Offer;
  readonly labels: Labels;
  readonly leaseMs: number;
  readonly resume?: ResumedSession;
}

/** What a worker says about the session that it resumes. */
interface ResumedSession {
  readonly session: SessionId;
  /** Every lease that the worker still has. */
  readonly running: readonly string[];
  /** Higher at each resume of the session, because the worker's leases change between resumes. */
  readonly number?: number;
}

export interface AttachSessionReply {
  /**
   * A session that resumes under another namespace is not found there. A resume is outdated when a
   * later one overtook it: it lists leases that the worker may no longer have.
   */
  readonly rejection?:
    | 'too_many_sessions'
    | 'quota_exceeded'
    | 'session_not_found'
    | 'resume_outdated';
  /** Empty when the session was refused. */
  readonly session: SessionId;
  readonly connection: number;
  readonly resumed: boolean;
  /** Leases that the worker listed but no longer holds. */
  readonly lost: readonly string[];
}

const REFUSED: AttachSessionReply = {
  session: '' as SessionId,
  connection: 0,
  resumed: false,
  lost: [],
};

/**
 * A worker opens a stream. When it resumes a known session, leases that both sides know are kept.
 * Leases that only the worker knows are lost. Leases that only the server knows never arrived.
 */
export function decideAttachSession(
  decision: Decision,
  command: AttachSession,
): AttachSessionReply {
  const resumed =
    command.resume === undefined ? undefined : decision.roster.find(command.resume.session);
  if (resumed !== undefined && resumed.namespace !== command.namespace) {
    return { ...REFUSED, rejection: 'session_not_found' };
  }
  const { number = Number.POSITIVE_INFINITY } = command.resume ?? {};
  if (resumed !== undefined && number <= resumed.resumeNumber) {
    return { ...REFUSED, rejection: 'resume_outdated' };
  }
  if (resumed === undefined && decision.roster.size >= decision.state.limits.sessionsMax) {
    return { ...REFUSED, rejection: 'too_many_sessions' };
  }
  const { quotas } = decision.state.limits;
  if (resumed === undefined && quotas !== undefined) {
    const count = decision.roster.countOf(command.namespace);
    if (count >= quotas.sessionsMax) return { ...REFUSED, rejection: 'quota_exceeded' };
  }
  // A restart forgets a session without leases. The session keeps its id anyway: its new leases
  // must be found under that id if the server dies before the worker hears of them.
  const session =
    resumed ?? makeSession(command.namespace, command.resume?.session ?? command.newSession);
  session.worker = command.worker;
  session.version = command.version;
  session.room.labels = command.labels;
  session.leaseMs = command.leaseMs;
  session.heardAt = decision.now;
  if (Number.isFinite(number)) session.resumeNumber = number;
  session.connection = decision.roster.nextConnection();
  // New sessions start with different lease counts. Otherwise sessions that end after a few leases
  // would never reach the turn of a task that waited long.
  if (resumed === undefined) session.leases = session.connection;
  session.connected = true;
  session.unsentBytes = 0;
  decision.roster.add(session);
  decision.roster.setTypes(session, command.types);
  changeOffer(decision, session, command.capacity);
  countUse(decision, session);

  const running = command.resume?.running ?? [];
  const lost = running.filter((lease) => !holds(decision, session, lease));
  if (resumed !== undefined) {
    returnUnlisted(decision, session, new Set(running));
    for (const slot of heldSlots(decision, session)) hearAgain(decision, slot);
  }
  return {
    session: session.id,
    connection: session.connection,
    resumed: resumed !== undefined,
    lost,
  };
}

/** Replaces the whole offer. */
export function changeOffer(decision: Decision, session: Session, offer: Offer): void {
  session.room.offer(offer);
  lookAgain(decision, session);
}

/** Replaces the types that the session takes; what it holds of others stays with it. */
export function changeTypes(
  decision: Decision,
  session: Session,
  types: readonly OfferedType[],
): void {
  decision.roster.setTypes(session, types);
  countUse(decision, session);
  lookAgain(decision, session);
}

/** The reservation and the refusals of a session may change with what it offers. */
function lookAgain(decision: Decision, session: Session): void {
  session.refused.clear();
  decision.roster.unreserve(session);
  decision.pending.add(session);
}

function holds({ state }: Decision, session: Session, lease: string): boolean {
  const key = parseLeaseToken(lease);
  if (key === undefined || key.partition !== state.partition) return false;
  if (!state.tasks.hasLease(key.slot, key.number)) return false;
  if (!isHeld(state.tasks.state[key.slot])) return false;
  return state.tasks.holderOf(key.slot) === state.holders.find(session.id);
}

function returnUnlisted(decision: Decision, session: Session, listed: ReadonlySet<string>): void {
  const slots = new Set<Slot>();
  for (const lease of listed) {
    const key = parseLeaseToken(lease);
    if (key !== undefined && holds(decision, session, lease)) slots.add(key.slot);
  }
  const unlisted = heldSlots(decision, session).filter((slot) => !slots.has(slot));
  for (const slot of unlisted) loseLease(decision, slot, NOT_ARRIVED_REASON);
}

/**
 * The worker listed this lease, so it counts as heard. The worker may have missed a stop request,
 * so the request is sent again.
 */
function hearAgain(decision: Decision, slot: Slot): void {
  const { tasks } = decision.state;
  listenFor(decision, slot, decision.now);
  if (tasks.stop[slot] === NO_STOP) return;
  const graceMs = Math.max(0, tasks.stopAt[slot] - decision.now);
  tellToStop(decision, slot, { reason: tasks.stop[slot], graceMs });
}
