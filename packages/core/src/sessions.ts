import type {
  AttachSession,
  AttachSessionReply,
  DetachSession,
  DetachSessionReply,
  DisconnectSession,
  DrainSession,
  DrainSessionReply,
  SessionRead,
} from './command.ts';
import { audit } from './decide-access.ts';
import type { Decision } from './decision.ts';
import { NO_HOLDER, type SessionId, type Slot } from './ids.ts';
import { loseLease } from './lease-ends.ts';
import { parseLeaseToken } from './lease-token.ts';
import { heldBy, listenFor, updateRoom } from './matching.ts';
import type { Offer } from './room.ts';
import { makeSession, type Session } from './roster.ts';
import type { ReadonlyState } from './state.ts';
import { tellToStop } from './stop-attempts.ts';
import {
  HANDED_BACK_REASON,
  isHeld,
  NO_STOP,
  NOT_ARRIVED_REASON,
  WORKER_LOST_REASON,
} from './task-state.ts';

const REFUSED: AttachSessionReply = {
  session: '' as SessionId,
  connection: 0,
  resumed: false,
  lost: [],
};

/**
 * A worker opens a stream. When it comes back with a known session, leases that both sides know are
 * kept, those that only the worker knows are lost, and those that only the server knows never
 * arrived.
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
  // A session without leases is forgotten by a restart. It keeps its id all the same: what it is
  // given now must be found under that id if the server dies before the worker hears of it.
  const session =
    resumed ?? makeSession(command.namespace, command.resume?.session ?? command.newSession);
  session.worker = command.worker;
  session.version = command.version;
  session.room.labels = command.labels;
  session.leaseMs = command.leaseMs;
  session.heardAt = decision.now;
  if (Number.isFinite(number)) session.resumeNumber = number;
  session.connection = decision.roster.nextConnection();
  // Counts begin apart: workers that come and go also give tasks that waited long their turn.
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

/** The worker read some of what was on its way: it may get more. */
export function decideSessionRead(decision: Decision, command: SessionRead): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.unsentBytes = Math.max(0, session.unsentBytes - command.bytes);
  decision.pending.add(session);
}

/** The stream of a session broke: it gets nothing more, and keeps what it has until it is lost. */
export function decideDisconnectSession(decision: Decision, command: DisconnectSession): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.connected = false;
  // A session without leases lives by its stream; from here on its silence counts.
  if (heldBy(decision.state, session) === 0) session.heardAt = decision.now;
  leaveAlone(decision, session);
}

/** The worker gets nothing new and keeps what it runs. It stays so over a broken connection. */
export function decideDrainSession(decision: Decision, command: DrainSession): DrainSessionReply {
  const session = decision.roster.findIn(command.namespace, command.session);
  if (session === undefined) return { found: false };
  if (!session.draining) {
    audit(decision, command.by, { namespace: command.namespace, action: 'worker_drained' });
  }
  session.draining = true;
  leaveAlone(decision, session);
  return { found: true };
}

/** The session is given nothing more: a task for which it kept room may look elsewhere. */
function leaveAlone(decision: Decision, session: Session): void {
  decision.roster.unreserve(session);
  updateRoom(decision, session);
}

/** The whole offer is replaced. What the session kept room for or refused is seen with new eyes. */
export function changeOffer(decision: Decision, session: Session, offer: Offer): void {
  session.room.offer(offer);
  session.refused.clear();
  decision.roster.unreserve(session);
  decision.pending.add(session);
}

/** Counts what the session holds, when it comes to be known with leases that it already has. */
function countUse(decision: Decision, session: Session): void {
  const { state, roster } = decision;
  const slots = heldSlots(decision, session);
  session.room.count(slots.map((slot) => state.shapes.at(state.tasks.shape[slot])));
  roster.countTypes(
    session,
    slots.map((slot) => state.queues[state.tasks.queue[slot]].key),
  );
}

export function decideDetachSession(
  decision: Decision,
  command: DetachSession,
): DetachSessionReply {
  const session = decision.roster.findIn(command.namespace, command.session);
  if (session === undefined) return { found: false };
  end(decision, [session], HANDED_BACK_REASON);
  return { found: true };
}

export function decideExpireSessions(decision: Decision): void {
  const lost = [...decision.roster.sessions()].filter((session) => isLost(decision, session));
  end(decision, lost, WORKER_LOST_REASON);
}

export function decideHearSessions(decision: Decision): void {
  for (const session of decision.roster.sessions()) {
    session.heardAt = decision.now;
    session.graceUntil = Math.max(session.graceUntil, decision.now + session.leaseMs);
    for (const slot of heldSlots(decision, session)) listenFor(decision, slot, decision.now);
  }
}

/**
 * Fills an empty roster with the sessions that hold leases, as absent, after a restart. They have a
 * grace period to come back before their silence counts (L7).
 */
export function expectHolders(decision: Decision, now: number, graceMsMin: number): void {
  for (const holder of decision.state.holders.holding()) {
    const [slot] = heldBySession(decision.state, holder.session);
    const { namespace } = decision.state.queues[decision.state.tasks.queue[slot]];
    const session = makeSession(namespace, holder.session);
    session.worker = holder.worker;
    session.leaseMs = holder.leaseMs;
    session.resumeNumber = holder.resume;
    session.heardAt = now;
    session.graceUntil = now + Math.max(graceMsMin, holder.leaseMs * 1.5);
    decision.roster.add(session);
    countUse(decision, session);
    for (const slot of heldSlots(decision, session)) {
      listenFor(decision, slot, session.graceUntil);
    }
  }
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

function isLost({ state, now }: Decision, session: Session): boolean {
  const holder = state.holders.find(session.id);
  const held = holder === NO_HOLDER ? 0 : state.holders.at(holder).held.length;
  if (held === 0) return !session.connected && now >= session.heardAt + session.leaseMs;

  const heardAt = Math.max(session.heardAt, state.holders.at(holder).heldSince);
  return now >= Math.max(heardAt + session.leaseMs, session.graceUntil);
}

/**
 * The sessions are over; what they hold goes back to the heads of the queues. All of them leave the
 * roster first, so that none is given what another one held.
 */
function end(decision: Decision, sessions: readonly Session[], reason: number): void {
  for (const session of sessions) {
    decision.roster.remove(session);
    decision.outputs.closedSessions.push(session.id);
  }
  const slots = sessions.flatMap((session) => heldSlots(decision, session));
  for (const slot of slots) loseLease(decision, slot, reason);
}

/** Newest lease first: each return goes to the head, so that the oldest ends up in front. */
function heldSlots({ state }: Decision, session: Session): Slot[] {
  return heldBySession(state, session.id);
}

function heldBySession(state: ReadonlyState, session: SessionId): Slot[] {
  const holder = state.holders.find(session);
  if (holder === NO_HOLDER) return [];
  const slots: Slot[] = [];
  state.holders.forEachHeld(holder, (slot) => slots.push(slot));
  return slots.reverse();
}

/** The lease was named by its worker, which may have missed that it has to stop. */
function hearAgain(decision: Decision, slot: Slot): void {
  const { tasks } = decision.state;
  listenFor(decision, slot, decision.now);
  if (tasks.stop[slot] === NO_STOP) return;
  const graceMs = Math.max(0, tasks.stopAt[slot] - decision.now);
  tellToStop(decision, slot, { reason: tasks.stop[slot], graceMs });
}
