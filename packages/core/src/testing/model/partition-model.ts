import type { SessionId } from '../../base/ids.ts';
import type { ReportOutcome } from '../../commands/attempts/report-attempts.ts';
import type { PartitionLimits } from '../../state/state.ts';
import { ModelAccess } from '../follow/follow-access.ts';
import type { Push, TestReport } from '../test-requests.ts';
import { bytesOf, pushBytes, textBytes, textsOf } from './model-bytes.ts';
import {
  type GivenKey,
  type KeyAnswer,
  type ModelKey,
  ModelKeys,
  namespaceOfKey,
} from './model-keys.ts';
import {
  type ModelRules,
  type ModelScene,
  mayHaveBeenKept,
  missingPushes,
  type Overtaken,
  overtakenBy,
  type Reservations,
  reservationProblems,
  whyNotPushed,
} from './model-matching.ts';
import { applyPatch, whyNotIdle } from './model-operations.ts';
import { listen, type ModelOffer, ModelSessions } from './model-sessions.ts';
import type { ModelDefinition, ModelState, ModelTask, SubmittedTask } from './model-task.ts';
import {
  backOff,
  expire,
  isLastAttempt,
  isOverdue,
  type ModelRedrive,
  passTime,
  redrive,
  timeOut,
} from './model-timers.ts';

/** The number of a task, and its state if it already existed. */
export type SubmitAnswer = readonly [number, (ModelState | undefined)?];

/** Defaults of a task. */
const DEFAULTS = {
  priority: 4,
  resources: {},
  constraints: [],
  retry: undefined,
  timeouts: {},
  tags: {},
  callback: undefined,
};

/**
 * What a partition should do, written as plainly as possible: arrays, objects and searches.
 *
 * It does not predict which of several workers with room gets a task. It accepts pushes as they
 * come, rejects those that break a rule, and reports when one is missing (matching.no-idle-fit).
 */
export class PartitionModel extends ModelSessions implements ModelScene {
  /** Remembered dedupe keys. */
  readonly keys = new ModelKeys();
  readonly redrives: ModelRedrive[] = [];
  readonly access = new ModelAccess();
  /** Defaults of task types, by queue key. */
  readonly definitions = new Map<string, ModelDefinition>();
  reservedBefore: Reservations = new Map();
  reserved: Reservations = new Map();
  given: ReadonlySet<number> = new Set();
  readonly rules: ModelRules;
  /** Tasks that the pushes of the current command overtook. */
  private readonly overtaken: Overtaken[] = [];

  constructor(limits: PartitionLimits, rules: ModelRules) {
    super(limits);
    this.rules = rules;
  }

  /**
   * Returns why the tasks are refused, or the number of each, and its state if it already existed.
   */
  submit(
    tasks: readonly SubmittedTask[],
    now: number,
    request?: GivenKey,
  ): string | SubmitAnswer[] {
    const bytes = tasks.reduce((sum, { input }) => sum + bytesOf(input), 0);
    this.forgetOldest(bytes);
    const first = request === undefined ? undefined : this.keys.lookRequest(request, now);
    if (typeof first === 'string') return first;
    if (first !== undefined) return tasks.map((_, place) => this.ofRequest(first + place));
    const isIdle = (task: number) => this.idleTask(task) !== undefined;
    const looked = this.keys.look(tasks, { last: this.accepted, now, isIdle });
    if (looked === 'dedupe_mismatch') return looked;
    const { answers, fresh } = looked;
    if (request !== undefined) {
      const namespace = namespaceOfKey(tasks[0].type);
      const { windowMs, ...key } = request;
      const expiresAt = now + windowMs;
      fresh.push({ ...key, namespace, task: this.accepted + 1, expiresAt, isOfRequest: true });
    }
    const rejection = this.whyRefused(tasks, { answers, keys: fresh, now });
    if (rejection !== undefined) return rejection;
    this.keys.remember(fresh);
    answers.forEach(([number, how], place) => {
      if (how === 'new') this.accept(tasks[place], now);
      if (how === 'replaced') this.replace(number, tasks[place], now);
    });
    return answers.map(([number, how]) =>
      how === 'new' ? [number] : [number, this.stateOf(number)],
    );
  }

  /** The task, unless a worker holds it or it has ended. */
  private idleTask(number: number): ModelTask | undefined {
    const task = this.tasks.find((each) => each.number === number);
    return task !== undefined && whyNotIdle(task) === undefined ? task : undefined;
  }

  private replace(number: number, submitted: SubmittedTask, now: number): void {
    const task = this.idleTask(number);
    if (task === undefined) throw new Error(`task ${number} is replaced and is not idle`);
    const { priority, tags } = {
      ...DEFAULTS,
      ...this.definitions.get(submitted.type),
      ...submitted,
    };
    const { delayMs, input, dedupe } = submitted;
    const isDue = delayMs === 0 && task.state === 'queued';
    applyPatch(
      this,
      task,
      {
        input,
        tags: {
          ...Object.fromEntries(Object.keys(task.tags).map((name) => [name, null])),
          ...tags,
        },
        ...(priority === task.priority ? {} : { priority }),
        ...(isDue ? {} : { runAt: now + delayMs }),
      },
      now,
    );
    if (dedupe !== undefined) this.keys.changeInput(number, dedupe.input);
  }

  private whyRefused(
    tasks: readonly SubmittedTask[],
    {
      answers,
      keys,
      now,
    }: { answers: readonly KeyAnswer[]; keys: readonly ModelKey[]; now: number },
  ): string | undefined {
    const added = tasks.filter((_, place) => answers[place][1] === 'new');
    const replacing = answers.filter(([, how]) => how === 'replaced');
    if (added.length + replacing.length === 0) return undefined;
    const { tasksMax, payloadBytesMax, dedupeKeysMax, quotas } = this.limits;
    let bytes = added.reduce((sum, { input }) => sum + bytesOf(input), 0);
    answers.forEach(([number, how], place) => {
      if (how === 'replaced') bytes += this.growth(number, tasks[place]);
    });
    this.keys.forget(now, this.keys.count + keys.length - dedupeKeysMax);
    if (this.tasks.length + added.length > tasksMax) return 'too_many_tasks';
    if (this.heldBytes + bytes > payloadBytesMax) return 'too_many_bytes';
    if (this.keys.count + keys.length > dedupeKeysMax) return 'too_many_keys';
    if (this.isTooMuchOwed(added)) return 'too_many_callbacks';
    if (quotas === undefined) return undefined;
    const namespace = namespaceOfKey(tasks[0].type);
    const use = this.useOf(namespace);
    const isOver =
      (added.length > 0 && use.tasks + added.length > quotas.tasksMax) ||
      (bytes > 0 && use.payloadBytes + bytes > quotas.payloadBytesMax) ||
      (keys.length > 0 && this.keys.countOf(namespace) + keys.length > quotas.dedupeKeysMax);
    return isOver ? 'quota_exceeded' : undefined;
  }

  /** Bytes by which a replaced task grows; one that is new in the same submit counts in full. */
  private growth(number: number, submitted: SubmittedTask): number {
    const said = { ...DEFAULTS, ...this.definitions.get(submitted.type), ...submitted };
    const bytes = (task: typeof said | ModelTask) =>
      bytesOf(task.input) + textBytes(textsOf(task).tags);
    const task = this.tasks.find((each) => each.number === number);
    return Math.max(0, bytes(said) - (task === undefined ? 0 : bytes(task)));
  }

  /** Each task with a callback may create one delivery. */
  private isTooMuchOwed(tasks: readonly SubmittedTask[]): boolean {
    const wanting = tasks.filter((task) => {
      const { callback = this.definitions.get(task.type)?.callback } = task;
      return callback !== undefined;
    });
    const owed = this.outbox.pending.length + wanting.length;
    return wanting.length > 0 && owed > this.limits.callbacksMax;
  }

  /** The key of a request does not know the states of tasks that left memory. */
  private ofRequest(number: number): SubmitAnswer {
    return [number, this.tasks.find((each) => each.number === number)?.state];
  }

  /** For a task that left memory: its last state. */
  private stateOf(number: number): ModelState | undefined {
    const task = this.tasks.find((each) => each.number === number) ?? this.gone.get(number);
    return task?.state;
  }

  private accept(submitted: SubmittedTask, now: number): void {
    const { dedupe: _, delayMs, ...given } = submitted;
    this.accepted += 1;
    const task: ModelTask = {
      ...DEFAULTS,
      ...this.definitions.get(given.type),
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
      jitterMs: 0,
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

  /** Everything that is due happens, earliest first. */
  advance(now: number): void {
    this.forgetOldest();
    redrive(this, this.redrives, now);
    passTime(this, now, (task) => this.graceOf(task));
    this.keys.forget(now, Number.POSITIVE_INFINITY);
  }

  report(
    id: SessionId,
    {
      reports,
      ...offer
    }: { reports: readonly TestReport[] } & Partial<Pick<ModelOffer, 'capacity' | 'types'>>,
    now: number,
  ) {
    this.forgetOldest();
    const session = this.sessions.find((each) => each.id === id);
    if (session !== undefined) session.heardAt = now;
    if (session !== undefined && Object.keys(offer).length > 0) {
      Object.assign(session, { ...offer, refused: new Map() });
      this.newOffer = id;
    }
    const found = session !== undefined || this.heldBy(id).length > 0;
    return { found, outcomes: reports.map((report) => this.reportOne(id, report, now)) };
  }

  /** A task goes to a worker; throws when it must not. */
  push({ task: number, session: id, lease }: Push, now: number): void {
    const task = this.waiting.find((each) => each.number === number);
    const session = this.sessions.find((each) => each.id === id);
    if (task === undefined) throw new Error(`task ${number} is pushed and was not waiting`);
    if (session === undefined) throw new Error(`task ${number} is pushed to ${id}, which is gone`);
    const problem = whyNotPushed(this, task, session, now);
    if (problem !== undefined) throw new Error(problem);
    if (this.overtaken.length > 0 && mayHaveBeenKept(this, task, session, now)) {
      for (const each of this.overtaken) each.keptMeanwhile += 1;
    }
    this.overtaken.push(...overtakenBy(this, task, session, now));

    if (this.heldBy(id).length === 0) session.heldSince = now;
    session.logged = { leaseMs: session.leaseMs, resumeNumber: session.resumeNumber };
    session.leases += 1;
    session.unsentBytes += pushBytes(task);
    this.takeOut(task);
    this.held.push(task);
    Object.assign(task, { state: 'leased', reason: 'leased', attempt: task.attempt + 1 });
    Object.assign(task, { lease, session: id, answered: '', leasedAt: now });
    if (this.reservedBefore.get(id) === number) {
      session.keepsRoomFrom = session.leases + this.heldBy(id).length;
    }
    listen(task, now);
  }

  /** A task expires instead of being pushed (matching.no-overdue); throws when it must not. */
  expire(number: number, now: number): void {
    const task = this.waiting.find((each) => each.number === number);
    if (task === undefined || !isOverdue(task, now)) throw new Error(`task ${number} had time`);
    expire(this, task, now);
  }

  /** Tasks that wait although a worker has room for them (matching.no-idle-fit). */
  missingPushes(now: number): number[] {
    return missingPushes(this, now);
  }

  /** Problems with the reservations after a command. */
  reservationProblems(now: number): string[] {
    this.newOffer = undefined;
    return reservationProblems(this, this.overtaken.splice(0), now);
  }

  /** Whether this push skips the first in line because the task waited long. */
  isAgedTurn({ task, session: id }: Push, now: number): boolean {
    const session = this.sessions.find((each) => each.id === id);
    const rules = { ...this.rules, agedLeaseEvery: Number.POSITIVE_INFINITY };
    const aged = this.waiting.find((each) => each.number === task);
    if (session === undefined || aged === undefined) return false;
    return whyNotPushed({ ...this, rules }, aged, session, now) !== undefined;
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
      this.outbox.owe(task, now);
      return 'ok';
    }
    const { stop } = task;
    task.answered = kind;
    if (kind === 'later' && stop === undefined) {
      const isNews = task.state === 'leased';
      this.takeOut(task);
      Object.assign(task, { state: 'running', reason: 'later' });
      if (isNews) this.outbox.owe(task, now);
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
    if (isLastAttempt(task, report)) this.finish(task, 'failed', 'failed', now);
    else backOff(this, task, 'backoff', now, report);
  }
}
