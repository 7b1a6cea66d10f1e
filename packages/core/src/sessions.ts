import type {
  AttachSession,
  AttachSessionReply,
  DetachSession,
  DetachSessionReply,
  DisconnectSession,
  SessionRead,
} from './command.ts';
import type { Decision } from './decision.ts';
import { NO_HOLDER, type SessionId, type Slot, type TaskNumber } from './ids.ts';
import { parseLeaseToken } from './lease-token.ts';
import { heldBy, matchQueues, matchSession, updateRoom } from './matching.ts';
import type { Session } from './roster.ts';
import {
  HANDED_BACK_REASON,
  isHeld,
  NOT_ARRIVED_REASON,
  WORKER_LOST_REASON,
} from './task-state.ts';

const REFUSED: AttachSessionReply = {
  rejection: 'too_many_sessions',
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
  if (resumed === undefined && decision.roster.size >= decision.state.limits.sessionsMax) {
    return REFUSED;
  }
  // A session without leases is forgotten by a restart. It keeps its id all the same: what it is
  // given now must be found under that id if the server dies before the worker hears of it.
  const session = resumed ?? newSession(command.resume?.session ?? command.newSession);
  session.worker = command.worker;
  session.slots = command.slots;
  session.leaseMs = command.leaseMs;
  session.heardAt = decision.now;
  session.connection = decision.roster.nextConnection();
  session.connected = true;
  session.unsentBytes = 0;
  decision.roster.add(session);
  decision.roster.setTypes(session, command.types);

  const running = command.resume?.running ?? [];
  const lost = running.filter((lease) => !holds(decision, session, lease));
  if (resumed !== undefined) returnUnlisted(decision, session, new Set(running));
  matchSession(decision, session);
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
  matchSession(decision, session);
}

/** The stream of a session broke: it gets nothing more, and keeps what it has until it is lost. */
export function decideDisconnectSession(decision: Decision, command: DisconnectSession): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.connected = false;
  // A session without leases lives by its stream; from here on its silence counts.
  if (heldBy(decision.state, session) === 0) session.heardAt = decision.now;
  updateRoom(decision, session);
}

export function decideDetachSession(
  decision: Decision,
  command: DetachSession,
): DetachSessionReply {
  const session = decision.roster.find(command.session);
  if (session === undefined) return { found: false };
  end(decision, [session], HANDED_BACK_REASON);
  return { found: true };
}

export function decideExpireSessions(decision: Decision): void {
  const lost = [...decision.roster.sessions()].filter((session) => isLost(decision, session));
  end(decision, lost, WORKER_LOST_REASON);
}

export function decideHearSessions({ roster, now }: Decision): void {
  for (const session of roster.sessions()) session.heardAt = now;
}

/**
 * Fills an empty roster with the sessions that hold leases, as absent, after a restart. They have a
 * grace period to come back before their silence counts (L7).
 */
export function expectHolders(decision: Decision, now: number, graceMsMin: number): void {
  for (const holder of decision.state.holders.holding()) {
    const session = newSession(holder.session);
    session.worker = holder.worker;
    session.leaseMs = holder.leaseMs;
    session.heardAt = now;
    session.graceUntil = now + Math.max(graceMsMin, holder.leaseMs * 1.5);
    decision.roster.add(session);
  }
}

function newSession(id: SessionId): Session {
  return {
    id,
    worker: '',
    types: [],
    slots: 0,
    leaseMs: 0,
    connection: 0,
    connected: false,
    heardAt: 0,
    graceUntil: 0,
    unsentBytes: 0,
    hasRoom: false,
    ringPlaces: [],
  };
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
  for (const slot of unlisted) returnTask(decision, slot, NOT_ARRIVED_REASON);
  matchQueuesOf(decision, unlisted);
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
  for (const slot of slots) {
    if (hasAttemptsLeft(decision, slot)) returnTask(decision, slot, reason);
    else exhaust(decision, slot, reason);
  }
  matchQueuesOf(decision, slots);
}

function hasAttemptsLeft({ state }: Decision, slot: Slot): boolean {
  const policy = state.retries.at(state.tasks.retry[slot]);
  return state.tasks.attempt[slot] < policy.maxAttempts;
}

/** Newest lease first: each return goes to the head, so that the oldest ends up in front. */
function heldSlots({ state }: Decision, session: Session): Slot[] {
  const holder = state.holders.find(session.id);
  if (holder === NO_HOLDER) return [];
  const slots: Slot[] = [];
  state.holders.forEachHeld(holder, (slot) => slots.push(slot));
  return slots.reverse();
}

function returnTask({ state, emit, events }: Decision, slot: Slot, reason: number): void {
  const event = events.attemptReturned;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.reason = reason;
  event.spent = reason !== NOT_ARRIVED_REASON;
  emit(event);
}

function exhaust({ state, emit, events, outputs }: Decision, slot: Slot, reason: number): void {
  const event = events.attemptsExhausted;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.reason = reason;
  emit(event);
  outputs.endedSlots.push(slot);
}

function matchQueuesOf(decision: Decision, slots: readonly Slot[]): void {
  const touched = new Set(slots.map((slot) => decision.state.tasks.queue[slot]));
  matchQueues(
    decision,
    [...touched].map((index) => decision.state.queues[index]),
  );
}
