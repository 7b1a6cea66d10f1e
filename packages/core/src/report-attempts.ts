import {
  pointAt,
  type Report,
  type ReportAttempts,
  type ReportAttemptsReply,
  type ReportOutcome,
} from './command.ts';
import type { Decision } from './decision.ts';
import { type HolderIndex, NO_HOLDER, type Slot, type TaskNumber } from './ids.ts';
import { unreachable } from './invariant.ts';
import { parseLeaseToken } from './lease-token.ts';
import { matchSession } from './matching.ts';
import { backoffMs, jitterOf } from './retry-policy.ts';
import { answerOf, isHeld, RUNNING } from './task-state.ts';

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
  const session = decision.roster.find(command.session);
  const holder = decision.state.holders.find(command.session);
  if (session !== undefined) session.heardAt = decision.now;

  const outcomes: ReportOutcome[] = [];
  for (let i = 0; i < command.reports.length; i++) {
    outcomes.push(
      decideReport(decision, command, { report: command.reports[i], index: i, holder }),
    );
  }

  if (session !== undefined) matchSession(decision, session);
  return { found: session !== undefined || holdsAny(decision, holder), outcomes };
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
    // A lease that was taken back stays in its column, and a report on it is stale all the same.
    return tasks.answered[key.slot] === answerOf(report.kind) ? 'duplicate' : 'stale_lease';
  }
  return acceptReport(decision, command, { report, index, slot: key.slot });
}

function acceptReport(
  decision: Decision,
  command: ReportAttempts,
  { report, index, slot }: { readonly report: Report; readonly index: number; readonly slot: Slot },
): ReportOutcome {
  const { state, emit, events, outputs } = decision;
  const task = state.tasks.number[slot] as TaskNumber;
  switch (report.kind) {
    case 'heartbeat':
      return 'ok';
    case 'started': {
      if (state.tasks.state[slot] === RUNNING) return 'duplicate';
      events.attemptStarted.slot = slot;
      events.attemptStarted.task = task;
      emit(events.attemptStarted);
      return 'ok';
    }
    case 'succeeded': {
      events.attemptSucceeded.slot = slot;
      events.attemptSucceeded.task = task;
      pointAt(events.attemptSucceeded.output, command.payloads, command.payloadEnds, index);
      emit(events.attemptSucceeded);
      outputs.endedSlots.push(slot);
      return 'ok';
    }
    case 'failed': {
      events.attemptFailed.slot = slot;
      events.attemptFailed.task = task;
      events.attemptFailed.retryAt = retryAt(decision, slot, { report, index, command });
      pointAt(events.attemptFailed.error, command.payloads, command.payloadEnds, index);
      emit(events.attemptFailed);
      if (events.attemptFailed.retryAt === 0) outputs.endedSlots.push(slot);
      return 'ok';
    }
    default:
      unreachable(report.kind);
  }
}

/** When the next attempt is due after this failure; 0 when there is none. */
function retryAt(
  { state, now }: Decision,
  slot: Slot,
  failure: { readonly report: Report; readonly index: number; readonly command: ReportAttempts },
): number {
  const { report, index, command } = failure;
  const policy = state.retries.at(state.tasks.retry[slot]);
  const attempt = state.tasks.attempt[slot];
  if (report.retryable === false || attempt >= policy.maxAttempts) return 0;
  const jitter = jitterOf(command.seed, index);
  return now + (report.retryAfterMs ?? backoffMs(policy, attempt, jitter));
}
