import type { ReportOutcome } from '../command.ts';
import type { SessionId } from '../ids.ts';
import type { PartitionLimits } from '../state.ts';
import { ModelKeys } from './model-keys.ts';
import {
  type ModelRules,
  type ModelScene,
  type ModelSession,
  missingPushes,
  type Overtaken,
  overtakenBy,
  type Reservations,
  reservationProblems,
  whyNotPushed,
} from './model-matching.ts';
import { ModelPlaces } from './model-places.ts';
import { attemptsOf, delayAfter, type ModelTask, type SubmittedTask } from './model-task.ts';
import {
  expire,
  isOverdue,
  type ModelRedrive,
  passTime,
  redrive,
  timeOut,
} from './model-timers.ts';
import type { Push, TestReport } from './test-requests.ts';

/** What a worker says of itself when it connects. */
export type ModelOffer = Pick<ModelSession, 'types' | 'capacity' | 'labels' | 'leaseMs'>;

/**
 * What a partition should do, written as plainly as possible: arrays, objects and searches.
 *
 * It does not foretell which of several workers with room gets a task. It takes the pushes as they
 * come, refuses the ones that break a rule, and says when one is missing (M1).
 */
export class PartitionModel extends ModelPlaces implements ModelScene {
  /** Sessions that the roster should know. */
  readonly sessions: ModelSession[] = [];
  /** Keys that are remembered. */
  readonly keys = new ModelKeys();
  readonly redrives: ModelRedrive[] = [];
  reservedBefore: Reservations = new Map();
  reserved: Reservations = new Map();
  hasRested = false;
  newOffer: SessionId | undefined;
  readonly rules: ModelRules;
  /** By the pushes of the command that is looked at. */
  private readonly overtaken: Overtaken[] = [];

  constructor(limits: PartitionLimits, rules: ModelRules) {
    super(limits);
    this.rules = rules;
  }

  /** Answers why the tasks are refused, or the number of each and whether it was known. */
  submit(tasks: readonly SubmittedTask[], now: number): string | [number, boolean][] {
    this.forgetOldest();
    const isKeyed = tasks.some(({ dedupe }) => dedupe !== undefined);
    if (isKeyed) this.keys.forget(now);
    if (this.tasks.length + tasks.length > this.limits.tasksMax) return 'too_many_tasks';
    if (isKeyed && this.keys.count + tasks.length > this.limits.dedupeKeysMax) {
      return 'too_many_keys';
    }
    const answers = this.keys.claim(tasks, this.accepted, now);
    if (answers === 'dedupe_mismatch') return answers;
    answers.forEach(([, isKnown], index) => {
      if (!isKnown) this.accept(tasks[index], now);
    });
    return answers;
  }

  private accept(submitted: SubmittedTask, now: number): void {
    const { dedupe: _, delayMs, ...given } = submitted;
    this.accepted += 1;
    const task: ModelTask = {
      ...given,
      number: this.accepted,
      state: 'waiting',
      reason: 'delayed',
      attempt: 0,
      lease: undefined,
      session: undefined,
      result: '',
      answered: '',
      dueAt: now + delayMs,
      joinedAt: 0,
      place: 0,
      queuedMs: undefined,
      submittedAt: now,
      liveSince: now,
      leasedAt: 0,
      endedAt: 0,
      stop: undefined,
      silentAt: undefined,
      isDiscarded: false,
    };
    this.tasks.push(task);
    if (delayMs === 0) this.queue(task, 'submitted', { now });
  }

  /** What is due happens, earliest first. */
  advance(now: number): void {
    this.forgetOldest();
    redrive(this, this.redrives, now);
    passTime(this, now, (task) => this.graceOf(task));
    this.keys.forget(now);
  }

  /** Until when the session that holds the task is waited for after a restart. */
  graceOf(task: ModelTask): number {
    return this.sessions.find(({ id }) => id === task.session)?.graceUntil ?? 0;
  }

  get isFull(): boolean {
    return this.sessions.length >= this.limits.sessionsMax;
  }

  attach(
    given: Pick<ModelSession, 'id' | 'connection'> & ModelOffer & { readonly heardAt: number },
  ): void {
    this.sessions.push({
      ...given,
      loggedLeaseMs: given.leaseMs,
      connected: true,
      draining: false,
      refused: new Map(),
      leases: given.connection,
      heldSince: 0,
      graceUntil: 0,
    });
  }

  /** Answers the leases that are lost. */
  resume(
    session: ModelSession,
    running: readonly string[],
    given: ModelOffer & { readonly heardAt: number },
  ): string[] {
    Object.assign(session, given, { connected: true, refused: new Map() });
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

  /** Sessions end, all at once; what the last of them held goes to the very head. */
  end(sessions: readonly ModelSession[], reason: 'handed_back' | 'worker_lost', now: number): void {
    for (const session of sessions) this.sessions.splice(this.sessions.indexOf(session), 1);
    for (const session of sessions) {
      for (const task of this.heldBy(session.id).toReversed()) this.loseLease(task, reason, now);
    }
  }

  private loseLease(task: ModelTask, reason: string, now: number): void {
    const isSpent = reason !== 'not_arrived' && reason !== 'refused';
    if (task.stop?.reason === 'cancelled') this.finish(task, 'cancelled', 'cancelled', now);
    else if (isSpent && task.attempt >= attemptsOf(task.retry)) {
      this.finish(task, 'failed', reason, now);
    } else {
      if (!isSpent) task.attempt -= 1;
      this.queue(task, reason, { now, toHead: true });
    }
  }

  report(
    id: SessionId,
    { reports, capacity }: { reports: readonly TestReport[]; capacity?: ModelOffer['capacity'] },
    now: number,
  ) {
    this.forgetOldest();
    const session = this.sessions.find((each) => each.id === id);
    if (session !== undefined) session.heardAt = now;
    if (session !== undefined && capacity !== undefined) {
      Object.assign(session, { capacity, refused: new Map() });
      this.newOffer = id;
    }
    const found = session !== undefined || this.heldBy(id).length > 0;
    return { found, outcomes: reports.map((report) => this.reportOne(id, report, now)) };
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
      session.leaseMs = session.loggedLeaseMs;
      session.heardAt = now;
      session.graceUntil = now + Math.max(graceMsMin, session.leaseMs * 1.5);
      for (const task of this.heldBy(session.id)) listen(task, session.graceUntil);
    }
  }

  /** A task goes to a worker; throws when it must not. */
  push({ task: number, session: id, lease }: Push, now: number): void {
    const task = this.waiting.find((each) => each.number === number);
    const session = this.sessions.find((each) => each.id === id);
    if (task === undefined) throw new Error(`task ${number} is pushed and was not waiting`);
    if (session === undefined) throw new Error(`task ${number} is pushed to ${id}, which is gone`);
    const problem = whyNotPushed(this, task, session, now);
    if (problem !== undefined) throw new Error(problem);
    this.overtaken.push(...overtakenBy(this, task, session, now));

    if (this.heldBy(id).length === 0) session.heldSince = now;
    session.loggedLeaseMs = session.leaseMs;
    session.leases += 1;
    this.takeOut(task);
    this.held.push(task);
    Object.assign(task, { state: 'leased', reason: 'leased', attempt: task.attempt + 1 });
    Object.assign(task, { lease, session: id, answered: '', leasedAt: now });
    listen(task, now);
  }

  /** A task ends where it would be pushed (M4); throws when it must not. */
  expire(number: number, now: number): void {
    const task = this.waiting.find((each) => each.number === number);
    if (task === undefined || !isOverdue(task, now)) throw new Error(`task ${number} had time`);
    expire(this, task, now);
  }

  /** M1: tasks that wait although a worker has room for them. */
  missingPushes(now: number): number[] {
    return missingPushes(this, now);
  }

  /** What is wrong with who keeps room for whom, after a command. */
  reservationProblems(now: number): string[] {
    this.newOffer = undefined;
    return reservationProblems(this, this.overtaken.splice(0), now);
  }

  /** Whether this push does not go to the first in line, because others waited too long. */
  isAgedTurn({ task, session: id }: Push, now: number): boolean {
    const session = this.sessions.find((each) => each.id === id);
    const rules = { ...this.rules, agedLeaseEvery: Number.POSITIVE_INFINITY };
    const aged = this.waiting.find((each) => each.number === task);
    if (session === undefined || aged === undefined) return false;
    return whyNotPushed({ ...this, rules }, aged, session, now) !== undefined;
  }

  heldBy(session: SessionId): ModelTask[] {
    return this.held.filter((task) => task.session === session);
  }

  private reportOne(session: SessionId, report: TestReport, now: number): ReportOutcome {
    const task = this.tasks.find((each) => each.lease === report.lease);
    if (task === undefined) return 'stale_lease';
    if (task.session !== session) return 'stale_lease';
    if (!this.held.includes(task)) {
      const isTaken =
        report.kind === 'started' ? task.answered !== '' : task.answered === report.kind;
      return isTaken ? 'duplicate' : 'stale_lease';
    }
    return this.acceptReport(task, report, now);
  }

  private acceptReport(task: ModelTask, report: TestReport, now: number): ReportOutcome {
    const { kind, payload = '' } = report;
    listen(task, now);
    if (kind === 'heartbeat' || kind === 'progress') return 'ok';
    if (kind === 'started') {
      if (task.state === 'running') return 'duplicate';
      Object.assign(task, { state: 'running', reason: 'started' });
      return 'ok';
    }
    const { stop } = task;
    task.answered = kind;
    if (kind === 'later' && stop === undefined) {
      this.takeOut(task);
      Object.assign(task, { state: 'running', reason: 'later' });
      return 'ok';
    }
    if (kind === 'refused' && stop?.reason !== 'cancelled') {
      this.sessions.find(({ id }) => id === task.session)?.refused.set(task.number, now + 1000);
      this.loseLease(task, kind, now);
      return 'ok';
    }
    if (stop?.reason === 'cancelled') this.finish(task, 'cancelled', 'cancelled', now);
    else if (kind === 'succeeded') this.finish(task, 'succeeded', 'succeeded', now);
    else if (stop !== undefined) timeOut(this, task, stop.reason, now, report);
    else this.fail(task, report, now);
    task.result = payload;
    return 'ok';
  }

  private fail(task: ModelTask, report: TestReport, now: number): void {
    const isLast = report.retryable === false || task.attempt >= attemptsOf(task.retry);
    if (isLast) this.finish(task, 'failed', 'failed', now);
    else this.sleep(task, 'backoff', now + (report.retryAfterMs ?? delayAfter(task)));
  }
}

/** Its worker was heard of at this time. */
function listen(task: ModelTask, heardAt: number): void {
  const { heartbeatMs } = task.timeouts;
  task.silentAt = heartbeatMs === undefined ? undefined : heardAt + heartbeatMs;
}
