import type { ReportOutcome } from '../command.ts';
import type { SessionId } from '../ids.ts';
import { ModelKeys } from './model-keys.ts';
import { ModelPlaces } from './model-places.ts';
import { type ModelScene, type ModelSession, missingPushes, whyNotPushed } from './model-room.ts';
import { attemptsOf, delayAfter, type ModelTask, type SubmittedTask } from './model-task.ts';
import { type ModelRedrive, passTime, redrive, timeOut } from './model-timers.ts';
import type { Push, TestReport } from './test-partition.ts';

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
    const { type, priority, input, delayMs, retry, timeouts, tags } = submitted;
    this.accepted += 1;
    const task: ModelTask = {
      number: this.accepted,
      type,
      priority,
      state: 'waiting',
      reason: 'delayed',
      attempt: 0,
      lease: undefined,
      session: undefined,
      input,
      result: '',
      answered: '',
      dueAt: now + delayMs,
      joinedAt: 0,
      queuedMs: undefined,
      submittedAt: now,
      liveSince: now,
      leasedAt: 0,
      endedAt: 0,
      retry,
      timeouts,
      tags,
      stop: undefined,
      silentAt: undefined,
      isDiscarded: false,
    };
    this.tasks.push(task);
    if (delayMs === 0) this.queue(task, 'submitted', { now });
  }

  /** What is due happens, earliest first. */
  advance(now: number): void {
    passTime(this, now);
    redrive(this, this.redrives, now);
    this.keys.forget(now);
  }

  get isFull(): boolean {
    return this.sessions.length >= this.limits.sessionsMax;
  }

  attach(
    given: Omit<ModelSession, 'connected' | 'loggedLeaseMs' | 'heldSince' | 'graceUntil'>,
  ): void {
    this.sessions.push({
      ...given,
      loggedLeaseMs: given.leaseMs,
      connected: true,
      heldSince: 0,
      graceUntil: 0,
    });
  }

  /** Answers the leases that are lost. */
  resume(
    session: ModelSession,
    running: readonly string[],
    given: Pick<ModelSession, 'types' | 'slots' | 'leaseMs' | 'heardAt'>,
  ): string[] {
    Object.assign(session, given, { connected: true });
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
    const isSpent = reason !== 'not_arrived';
    if (task.stop?.reason === 'cancelled') this.finish(task, 'cancelled', 'cancelled', now);
    else if (isSpent && task.attempt >= attemptsOf(task.retry)) {
      this.finish(task, 'failed', reason, now);
    } else {
      if (!isSpent) task.attempt -= 1;
      this.queue(task, reason, { now, toHead: true });
    }
  }

  report(id: SessionId, reports: readonly TestReport[], now: number) {
    this.forgetOldest();
    const session = this.sessions.find((each) => each.id === id);
    if (session !== undefined) session.heardAt = now;
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
      session.slots = 0;
      session.types = [];
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
    const problem = whyNotPushed(this, task, session);
    if (problem !== undefined) throw new Error(problem);

    if (this.heldBy(id).length === 0) session.heldSince = now;
    session.loggedLeaseMs = session.leaseMs;
    this.takeOut(task);
    this.held.push(task);
    Object.assign(task, { state: 'leased', reason: 'leased', attempt: task.attempt + 1 });
    Object.assign(task, { lease, session: id, answered: '', leasedAt: now });
    listen(task, now);
  }

  /** M1: tasks that wait although a worker has room for them. */
  missingPushes(): number[] {
    return missingPushes(this);
  }

  heldBy(session: SessionId): ModelTask[] {
    return this.held.filter((task) => task.session === session);
  }

  private reportOne(session: SessionId, report: TestReport, now: number): ReportOutcome {
    const task = this.tasks.find((each) => each.lease === report.lease);
    if (task === undefined) return 'stale_lease';
    if (task.session !== session) return 'stale_lease';
    if (!this.held.includes(task)) {
      return task.answered === report.kind ? 'duplicate' : 'stale_lease';
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
