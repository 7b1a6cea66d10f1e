import {
  type HolderIndex,
  NO_HOLDER,
  type SessionId,
  type Slot,
  type TaskNumber,
} from '../../base/ids.ts';
import { parseLeaseToken } from '../../base/lease-token.ts';
import type { Decision } from '../../decision/decision.ts';
import {
  endTask,
  hasAttemptsLeft,
  loseLease,
  nextAttemptAt,
  timeOutAttempt,
} from '../../decision/lease-ends.ts';
import { listenFor } from '../../matching/matching.ts';
import { type PayloadRange, pointAt } from '../../structures/payload-range.ts';
import {
  answerOf,
  CANCELLED,
  CANCELLED_REASON,
  isHeld,
  NO_ANSWER,
  NO_STOP,
  REFUSED_REASON,
  RUNNING,
} from '../../task/task-state.ts';
import type { Offer } from '../../workers/room.ts';
import type { OfferedType, Session } from '../../workers/roster.ts';
import { changeOffer, changeTypes } from '../sessions/attach-session.ts';

export type ReportKind =
  | 'started'
  | 'heartbeat'
  | 'progress'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'later'
  | 'refused';

/** The figures of a usage, in the order of their bits. */
export const USAGE_FIGURES = [
  'wallMs',
  'cpuMs',
  'memoryPeakBytes',
  'readBytes',
  'writtenBytes',
] as const;

/** What an attempt used, as far as its worker could measure it. */
export type Usage = { readonly [Figure in (typeof USAGE_FIGURES)[number]]?: number };

export interface Report {
  readonly lease: string;
  readonly kind: ReportKind;
  /** For failures: false when a retry makes no sense. */
  readonly retryable?: boolean;
  /** For failures: delay before the next attempt, instead of the retry policy's. */
  readonly retryAfterMs?: number;
  /** For ends: when the attempt started, if the start was not reported separately. */
  readonly startedAt?: number;
  /** For ends: what the attempt used. */
  readonly usage?: Usage;
  /** For progress: a fraction from 0 to 1, and a message. */
  readonly fraction?: number;
  readonly message?: string;
}

/** A worker's reports on attempts, applied in order. The command also renews the session. */
export interface ReportAttempts {
  readonly type: 'report_attempts';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
  readonly reports: readonly Report[];
  /** Replaces the whole offer of the session. */
  readonly capacity?: Offer;
  /** Replaces the types that the session takes. */
  readonly types?: readonly OfferedType[];
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
  /** The outputs and errors as JSON text, one after the other, as in `SubmitTasks`. */
  readonly payloads: Uint8Array;
  readonly payloadEnds: ArrayLike<number>;
}

export type ReportOutcome = 'ok' | 'duplicate' | 'stale_lease';

export interface ReportAttemptsReply {
  /** False when neither the roster nor any lease knows the session. */
  readonly found: boolean;
  /** One per report, in order; valid until the next command. */
  readonly outcomes: readonly ReportOutcome[];
}

/** How long a worker is not given a task again after it refused the task. */
const REFUSED_FOR_MS = 1000;

/**
 * A worker reports on its attempts, in order.
 *
 * The lease fences out a worker that stalled past its lease: its late report must not finish an
 * attempt that has since been handed to another worker (L6).
 */
export function decideReportAttempts(
  decision: Decision,
  command: ReportAttempts,
): ReportAttemptsReply {
  const known = decision.roster.find(command.session);
  const isForeign = known !== undefined && known.namespace !== command.namespace;
  const session = isForeign ? undefined : known;
  const holder = isForeign ? NO_HOLDER : decision.state.holders.find(command.session);
  if (session !== undefined) hear(decision, session, command);

  const outcomes: ReportOutcome[] = [];
  for (let i = 0; i < command.reports.length; i++) {
    outcomes.push(
      decideReport(decision, command, { report: command.reports[i], index: i, holder }),
    );
  }

  return { found: session !== undefined || holdsAny(decision, holder), outcomes };
}

function hear(decision: Decision, session: Session, { capacity, types }: ReportAttempts): void {
  session.heardAt = decision.now;
  if (types !== undefined) changeTypes(decision, session, types);
  if (capacity !== undefined) changeOffer(decision, session, capacity);
}

/** A session that the roster does not know may still come back for its leases after a restart. */
function holdsAny({ state }: Decision, holder: HolderIndex): boolean {
  return holder !== NO_HOLDER && state.holders.at(holder).held.length > 0;
}

interface ReportAt {
  readonly report: Report;
  readonly index: number;
  readonly holder: HolderIndex;
}

function decideReport(
  decision: Decision,
  command: ReportAttempts,
  { report, index, holder }: ReportAt,
): ReportOutcome {
  const { tasks, partition } = decision.state;
  const key = parseLeaseToken(report.lease);
  if (key === undefined || key.partition !== partition) return 'stale_lease';
  if (!tasks.hasLease(key.slot, key.number)) return 'stale_lease';
  if (holder === NO_HOLDER || tasks.holderOf(key.slot) !== holder) return 'stale_lease';
  if (!isHeld(tasks.state[key.slot])) {
    // A revoked lease stays in its column, but a report on it is still stale.
    return wasTaken(tasks.answered[key.slot], report.kind) ? 'duplicate' : 'stale_lease';
  }
  return acceptReport(decision, command, { report, index, slot: key.slot });
}

/** Whether this same report was accepted earlier for this lease. */
function wasTaken(answered: number, kind: Report['kind']): boolean {
  return kind === 'started' ? answered !== NO_ANSWER : answered === answerOf(kind);
}

interface Accepted {
  readonly report: Report;
  readonly index: number;
  readonly slot: Slot;
}

function acceptReport(
  decision: Decision,
  command: ReportAttempts,
  accepted: Accepted,
): ReportOutcome {
  const { report, slot } = accepted;
  const { tasks } = decision.state;
  listenFor(decision, slot, decision.now);
  if (report.kind === 'heartbeat') return 'ok';
  if (report.kind === 'progress') {
    const { fraction = 0, message = '' } = report;
    decision.activity.setProgress(slot, { fraction, message });
    return 'ok';
  }
  if (report.kind === 'started') {
    if (tasks.state[slot] === RUNNING) return 'duplicate';
    const event = decision.events.attemptStarted;
    event.slot = slot;
    event.task = tasks.number[slot] as TaskNumber;
    decision.emit(event);
    return 'ok';
  }
  endAttempt(decision, command, accepted);
  return 'ok';
}

/** A pending stop request decides what the worker's final report means. */
function endAttempt(decision: Decision, command: ReportAttempts, accepted: Accepted): void {
  const { report, slot } = accepted;
  const stop = decision.state.tasks.stop[slot];
  decision.activity.forget(slot);
  if (report.usage !== undefined) noteUsage(decision, slot, report.usage);
  if (stop === CANCELLED_REASON) {
    const payload = payloadOf(command, accepted);
    endTask(decision, slot, {
      state: CANCELLED,
      reason: CANCELLED_REASON,
      answer: answerOf(report.kind),
      startedAt: startedAt(decision, slot, report),
      payload,
    });
  } else if (report.kind === 'refused') {
    refuse(decision, slot);
  } else if (report.kind === 'succeeded') {
    succeed(decision, command, accepted);
  } else if (stop !== NO_STOP) {
    timeOutAttempt(decision, slot, {
      reason: stop,
      retryAt: retryAt(decision, command, accepted),
      answer: answerOf(report.kind),
      startedAt: startedAt(decision, slot, report),
      error: payloadOf(command, accepted),
    });
  } else if (report.kind === 'later') {
    defer(decision, accepted);
  } else {
    fail(decision, command, accepted);
  }
}

function noteUsage({ state, emit, events }: Decision, slot: Slot, usage: Usage): void {
  const event = events.attemptUsed;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.measured = 0;
  USAGE_FIGURES.forEach((figure, bit) => {
    event[figure] = usage[figure] ?? 0;
    if (usage[figure] !== undefined) event.measured |= 1 << bit;
  });
  emit(event);
}

/**
 * The worker refuses the task. For a moment it is not offered the task again. Another worker gets a
 * chance, and a lone worker is not asked in a loop.
 */
function refuse(decision: Decision, slot: Slot): void {
  const { roster, now } = decision;
  const { tasks, holders } = decision.state;
  const session = roster.find(holders.at(tasks.holderOf(slot)).session);
  if (session !== undefined) roster.refuse(session, tasks.number[slot], now + REFUSED_FOR_MS);
  loseLease(decision, slot, REFUSED_REASON);
}

function succeed(decision: Decision, command: ReportAttempts, accepted: Accepted): void {
  const { state, emit, events, outputs } = decision;
  const { report, index, slot } = accepted;
  const event = events.attemptSucceeded;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.startedAt = startedAt(decision, slot, report);
  pointAt(event.output, command.payloads, command.payloadEnds, index);
  emit(event);
  outputs.endedSlots.push(slot);
}

function defer(decision: Decision, { report, slot }: Accepted): void {
  const event = decision.events.attemptDeferred;
  event.slot = slot;
  event.task = decision.state.tasks.number[slot] as TaskNumber;
  event.startedAt = startedAt(decision, slot, report);
  decision.emit(event);
}

/** A worker that gives up without a stop request has failed, too. */
function fail(decision: Decision, command: ReportAttempts, accepted: Accepted): void {
  const { state, emit, events, outputs } = decision;
  const { report, index, slot } = accepted;
  const event = events.attemptFailed;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.startedAt = startedAt(decision, slot, report);
  event.answer = answerOf(report.kind);
  event.retryAt = retryAt(decision, command, accepted);
  pointAt(event.error, command.payloads, command.payloadEnds, index);
  emit(event);
  if (event.retryAt === 0) outputs.endedSlots.push(slot);
}

/** The worker's clock may be wrong, so the start is clamped between the lease and now. */
function startedAt({ state, now }: Decision, slot: Slot, report: Report): number {
  if (report.startedAt === undefined) return 0;
  return Math.min(Math.max(report.startedAt, state.tasks.leasedAt[slot]), now);
}

function payloadOf({ payloads, payloadEnds }: ReportAttempts, { index }: Accepted): PayloadRange {
  const range = { bytes: payloads, start: 0, end: 0 };
  pointAt(range, payloads, payloadEnds, index);
  return range;
}

/** When the next attempt is due after this one; 0 when there is none. */
function retryAt(
  decision: Decision,
  { seed }: ReportAttempts,
  { report, index, slot }: Accepted,
): number {
  if (report.retryable === false || !hasAttemptsLeft(decision.state, slot)) return 0;
  if (report.retryAfterMs !== undefined) return decision.now + report.retryAfterMs;
  return nextAttemptAt(decision, slot, { seed, place: index });
}
