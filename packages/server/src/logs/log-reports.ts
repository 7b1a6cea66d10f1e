import {
  parseLeaseToken,
  type ReadonlyState,
  type ReportAttemptsReply,
  type Slot,
} from '@sluice/core';
import type { ReportRequest } from '@sluice/protocol';
import { taskIdOf } from '../tasks/task-view.ts';
import type { AttemptLines } from './log-file.ts';

interface LogReport {
  /** Index among the reports of the request. */
  readonly place: number;
  readonly lease: string;
  readonly seq: number;
  readonly lines: readonly string[];
}

/** The reports with lines in a validated body. */
export function logReportsOf(body: unknown): LogReport[] {
  const { reports = [] } = (body ?? {}) as { readonly reports?: readonly ReportRequest[] };
  return reports.flatMap((report, place) => {
    if (report.kind !== 'log') return [];
    const { lease, seq, lines } = report;
    return [{ place, lease, seq, lines }];
  });
}

/** The attempt that the lines belong to; empty when the lease was not current. */
export function linesOf(
  { place, lease, seq, lines }: LogReport,
  { outcomes }: ReportAttemptsReply,
  state: ReadonlyState,
): Omit<AttemptLines, 'at'>[] {
  const token = parseLeaseToken(lease);
  if (outcomes[place] !== 'ok' || token === undefined) return [];
  const slot = token.slot as Slot;
  const { tasks } = state;
  // A task that ended by the same request may have left memory with it.
  if (tasks.number[slot] === 0) return [];
  // A task that failed by the same request may already be leased to the next worker.
  const isCurrent = tasks.lease[slot] === token.number;
  const attempt = tasks.attempt[slot] - (isCurrent ? 0 : 1);
  const id = taskIdOf(state, slot);
  return [{ id, attempt: Math.max(1, attempt), lease: token.number, seq, lines }];
}
