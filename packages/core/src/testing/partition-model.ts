import type { ReportOutcome } from '../command.ts';
import type { SessionId } from '../ids.ts';
import type { PartitionLimits } from '../state.ts';
import { ModelKeys } from './model-keys.ts';
import { type ModelScene, type ModelSession, missingPushes, whyNotPushed } from './model-room.ts';
import { attemptsOf, delayAfter, type ModelTask, type SubmittedTask } from './model-task.ts';
import type { Push, TestReport } from './test-partition.ts';

/**
 * What a partition should do, written as plainly as possible: arrays, objects and searches.
 *
 * It does not foretell which of several workers with room gets a task. It takes the pushes as they
 * come, refuses the ones that break a rule, and says when one is missing (M1).
 */
export class PartitionModel implements ModelScene {
  readonly tasks: ModelTask[] = [];
  /** Sessions that the roster should know. */
  readonly sessions: ModelSession[] = [];
  /** Tasks that wait for their time. */
  readonly sleeping: ModelTask[] = [];
  readonly waiting: ModelTask[] = [];
  readonly held: ModelTask[] = [];
  /** Ended tasks, oldest end first. */
  readonly finished: ModelTask[] = [];
  /** Keys that are remembered. */
  readonly keys = new ModelKeys();
  accepted = 0;
  forgotten = 0;
  private readonly limits: PartitionLimits;

  constructor(limits: PartitionLimits) {
    this.limits = limits;
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

  private accept({ type, priority, input, delayMs, retry }: SubmittedTask, now: number): void {
    this.accepted += 1;
    const task: ModelTask = {
      number: this.accepted,
      type,
      priority,
      state: delayMs > 0 ? 'waiting' : 'queued',
      reason: delayMs > 0 ? 'delayed' : 'submitted',
      attempt: 0,
      lease: undefined,
      session: undefined,
      input,
      result: '',
      answered: '',
      dueAt: now + delayMs,
      retry,
    };
    this.tasks.push(task);
    (delayMs > 0 ? this.sleeping : this.waiting).push(task);
  }

  /** What is due goes to the tails of the queues, earliest first. */
  advance(now: number): void {
    this.keys.forget(now);
    const due = this.sleeping
      .filter((task) => task.dueAt <= now)
      .toSorted((a, b) => a.dueAt - b.dueAt || a.number - b.number);
    for (const task of due) {
      this.sleeping.splice(this.sleeping.indexOf(task), 1);
      this.waiting.push(task);
      Object.assign(task, { state: 'queued', reason: 'due' });
    }
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
    for (const task of unlisted.toReversed()) {
      this.takeBack(task, 'not_arrived');
      task.attempt -= 1;
    }
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
  end(sessions: readonly ModelSession[], reason: 'handed_back' | 'worker_lost'): void {
    for (const session of sessions) this.sessions.splice(this.sessions.indexOf(session), 1);
    for (const session of sessions) {
      for (const task of this.heldBy(session.id).toReversed()) {
        if (task.attempt < attemptsOf(task.retry)) this.takeBack(task, reason);
        else this.finish(task, 'failed', reason);
      }
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
    this.waiting.splice(this.waiting.indexOf(task), 1);
    this.held.push(task);
    Object.assign(task, { state: 'leased', reason: 'leased', attempt: task.attempt + 1 });
    Object.assign(task, { lease, session: id, answered: '' });
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
    if (kind === 'heartbeat') return 'ok';
    if (kind === 'started') {
      if (task.state === 'running') return 'duplicate';
      Object.assign(task, { state: 'running', reason: 'started' });
      return 'ok';
    }
    task.result = payload;
    task.answered = kind;
    const isLast = report.retryable === false || task.attempt >= attemptsOf(task.retry);
    if (kind === 'succeeded' || isLast) this.finish(task, kind, kind);
    else this.sleep(task, now + (report.retryAfterMs ?? delayAfter(task)));
    return 'ok';
  }

  private sleep(task: ModelTask, dueAt: number): void {
    this.held.splice(this.held.indexOf(task), 1);
    this.sleeping.push(task);
    Object.assign(task, { state: 'waiting', reason: 'backoff', dueAt });
  }

  private takeBack(task: ModelTask, reason: string): void {
    this.held.splice(this.held.indexOf(task), 1);
    this.waiting.unshift(task);
    Object.assign(task, { state: 'queued', reason });
  }

  private finish(task: ModelTask, state: 'succeeded' | 'failed', reason: string): void {
    this.held.splice(this.held.indexOf(task), 1);
    this.finished.push(task);
    Object.assign(task, { state, reason });
  }

  private forgetOldest(): void {
    while (this.finished.length > this.limits.finishedTasksMax) {
      const task = this.finished.shift() as ModelTask;
      this.tasks.splice(this.tasks.indexOf(task), 1);
      this.forgotten += 1;
    }
  }
}
