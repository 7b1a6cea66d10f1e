import type { SessionId } from '../../base/ids.ts';
import type { ModelSession } from './model-matching.ts';
import { ModelPlaces } from './model-places.ts';
import { attemptsOf, delayAfter, type ModelTask } from './model-task.ts';

const NO_DELAY = { delayMs: 0, jitterMs: 0 };

/** What a worker offers when it connects. */
export type ModelOffer = Pick<ModelSession, 'types' | 'capacity' | 'labels' | 'leaseMs'>;

/** The time of the attach, and its resume number, if it has one. */
interface Heard {
  readonly heardAt: number;
  readonly resumeNumber?: number | undefined;
}

/** The sessions of the model, and what happens to tasks when a session comes or goes. */
export class ModelSessions extends ModelPlaces {
  /** Sessions that the roster should know. */
  readonly sessions: ModelSession[] = [];
  newOffer: SessionId | undefined;

  /** How long the session of the task has time to come back after a restart. */
  graceOf(task: ModelTask): number {
    return this.sessions.find(({ id }) => id === task.session)?.graceUntil ?? 0;
  }

  /** Why a new session of the namespace is refused. */
  whyFull(namespace: string): string | undefined {
    const { sessionsMax, quotas } = this.limits;
    if (this.sessions.length >= sessionsMax) return 'too_many_sessions';
    const own = this.sessions.filter((session) => session.namespace === namespace);
    return own.length >= (quotas?.sessionsMax ?? sessionsMax) ? 'quota_exceeded' : undefined;
  }

  attach(given: Pick<ModelSession, 'id' | 'namespace' | 'connection'> & ModelOffer & Heard): void {
    this.sessions.push({
      ...given,
      resumeNumber: given.resumeNumber ?? 0,
      logged: { leaseMs: given.leaseMs, resumeNumber: given.resumeNumber ?? 0 },
      connected: true,
      draining: false,
      refused: new Map(),
      leases: given.connection,
      keepsRoomFrom: 0,
      heldSince: 0,
      graceUntil: 0,
      unsentBytes: 0,
    });
  }

  /** Returns the leases that are lost. */
  resume(session: ModelSession, running: readonly string[], given: ModelOffer & Heard): string[] {
    const resumeNumber = given.resumeNumber ?? session.resumeNumber;
    Object.assign(session, given, { resumeNumber, connected: true });
    Object.assign(session, { refused: new Map(), unsentBytes: 0 });
    this.newOffer = session.id;
    const held = this.heldBy(session.id);
    const lost = running.filter((lease) => !held.some((task) => task.lease === lease));
    const unlisted = held.filter((task) => !running.includes(task.lease ?? ''));
    for (const task of unlisted.toReversed()) this.loseLease(task, 'not_arrived', given.heardAt);
    for (const task of this.heldBy(session.id)) listen(task, given.heardAt);
    return lost;
  }

  disconnect(session: ModelSession, connection: number, now: number): void {
    if (session.connection !== connection) return;
    session.connected = false;
    if (this.heldBy(session.id).length === 0) session.heardAt = now;
  }

  /** Pushed data has left the server. */
  read(session: ModelSession, connection: number, bytes: number): void {
    if (session.connection !== connection) return;
    session.unsentBytes = Math.max(0, session.unsentBytes - bytes);
  }

  /** Every session counts as heard. */
  hear(now: number): void {
    for (const session of this.sessions) {
      session.heardAt = now;
      session.graceUntil = Math.max(session.graceUntil, now + session.leaseMs);
      for (const task of this.heldBy(session.id)) listen(task, now);
    }
  }

  /** The sessions that an expiry at this time must find lost. */
  lostAt(now: number): ModelSession[] {
    return this.sessions.filter((session) => {
      if (this.heldBy(session.id).length === 0) {
        return !session.connected && now - session.heardAt >= session.leaseMs;
      }
      const silence = now - Math.max(session.heardAt, session.heldSince);
      return silence >= session.leaseMs && now >= session.graceUntil;
    });
  }

  /** Ends sessions together; the tasks of the last one go to the very head. */
  end(sessions: readonly ModelSession[], reason: 'handed_back' | 'worker_lost', now: number): void {
    for (const session of sessions) this.sessions.splice(this.sessions.indexOf(session), 1);
    for (const session of sessions) {
      for (const task of this.heldBy(session.id).toReversed()) this.loseLease(task, reason, now);
    }
  }

  /** Ends all leases; the oldest goes to the very head. */
  resetAfterRestore(now: number): void {
    for (const task of this.held.toReversed()) this.loseLease(task, 'not_arrived', now);
  }

  protected loseLease(task: ModelTask, reason: string, now: number): void {
    const isSpent = reason === 'worker_lost';
    if (task.stop?.reason === 'cancelled') this.finish(task, 'cancelled', 'cancelled', now);
    else if (isSpent && task.attempt >= attemptsOf(task)) {
      this.finish(task, 'failed', reason, now);
    } else {
      if (!isSpent) task.attempt -= 1;
      const { delayMs, jitterMs } = isSpent ? delayAfter(task) : NO_DELAY;
      if (delayMs === 0) this.queue(task, reason, { now, toHead: true });
      else this.sleep(task, reason, now + delayMs, jitterMs);
    }
  }

  restart(now: number, graceMsMin: number): void {
    const holding = this.sessions.filter((each) => this.heldBy(each.id).length > 0);
    this.sessions.length = 0;
    this.sessions.push(...holding);
    for (const session of holding) {
      session.connection = 0;
      session.connected = false;
      session.draining = false;
      session.capacity = { slots: 0 };
      session.types = [];
      session.labels = new Map();
      session.refused = new Map();
      session.leases = 0;
      session.keepsRoomFrom = 0;
      session.unsentBytes = 0;
      Object.assign(session, session.logged);
      session.heardAt = now;
      session.graceUntil = now + Math.max(graceMsMin, Math.ceil(session.leaseMs * 1.5));
      for (const task of this.heldBy(session.id)) listen(task, session.graceUntil);
    }
  }

  heldBy(session: SessionId): ModelTask[] {
    return this.held.filter((task) => task.session === session);
  }
}

/** Restarts the heartbeat timeout of the task. */
export function listen(task: ModelTask, heardAt: number): void {
  const { heartbeatMs } = task.timeouts;
  task.silentAt = heartbeatMs === undefined ? undefined : heardAt + heartbeatMs;
}
