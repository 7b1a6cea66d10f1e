import { LIMITS } from '@sluice/protocol/limits';
import { utf8Bytes } from '../base/json-text.ts';
import { RenewedMap } from '../base/renewed-map.ts';
import { AttemptLog } from './attempt-log.ts';
import type { FinalKind, FinalReport } from './final-reports.ts';

export type Outcome = 'ok' | 'duplicate' | 'stale_lease';

type ReportKind = 'started' | 'progress' | 'heartbeat' | 'log' | FinalKind;

/** One report of a request. */
export interface SentReport {
  readonly lease: string;
  readonly kind: ReportKind;
  readonly text: string;
  readonly isFinal: boolean;
}

/** Room for the rest of the body: brackets, and the worker's capacity. */
const ENVELOPE_BYTES = 16 * 1024;

const REPORTS_BYTES_MAX = LIMITS.bodyBytesMax - ENVELOPE_BYTES;

/** Pending reports of one lease. */
interface Words {
  isStarted: boolean;
  isAlive: boolean;
  /** The newest progress that was not answered. */
  progress: string | undefined;
  final: FinalReport | undefined;
  isInFlight: boolean;
  /**
   * A batch with this report was refused, and it is unknown which report caused it. So it is sent
   * alone.
   */
  isAlone: boolean;
}

/**
 * A worker's reports on its leases that were not answered yet.
 *
 * reports.lease-order: A lease is in at most one request in flight, and the reports of one request
 *   are applied in order. So two requests in flight keep the order of reports per lease.
 * reports.final-kept: A final report is rendered once and stays until it is answered, across
 *   connections, sessions and restarts of the server.
 * reports.final-last: Nothing follows a final report, and lines that were written before it are
 *   sent before it. Only the newest progress is kept.
 * reports.bounded-batch: A batch is bounded in reports and in bytes.
 */
export class ReportOutbox {
  private readonly byLease = new RenewedMap<string, Words>();
  /** Leases with pending reports and nothing in flight, in the order in which the reports came. */
  private readonly ready = new RenewedMap<string, Words>();
  /** Log lines by lease, from the first line to the end of the lease. */
  private readonly logs = new Map<string, AttemptLog>();
  private readonly firstLogNumber: number;

  constructor(firstLogNumber = 0) {
    this.firstLogNumber = firstLogNumber;
  }

  /** Nothing is pending, and nothing waits for an answer. */
  get isEmpty(): boolean {
    return this.byLease.size === 0;
  }

  started(lease: string): void {
    const words = this.openWords(lease);
    if (words !== undefined) words.isStarted = true;
  }

  heartbeat(lease: string): void {
    const words = this.openWords(lease);
    if (words !== undefined) words.isAlive = true;
  }

  progress(lease: string, text: string): void {
    const words = this.openWords(lease);
    if (words !== undefined) words.progress = text;
  }

  log(lease: string, line: string): void {
    if (this.openWords(lease) === undefined) return;
    let log = this.logs.get(lease);
    if (log === undefined) {
      log = new AttemptLog(lease, this.firstLogNumber);
      this.logs.set(lease, log);
    }
    log.add(line);
  }

  /** Only the first end counts. */
  finish(report: FinalReport): void {
    const words = this.openWords(report.lease);
    if (words !== undefined) words.final = report;
  }

  /** Discards all reports on the lease. */
  drop(lease: string): void {
    this.byLease.delete(lease);
    this.ready.delete(lease);
    this.logs.delete(lease);
  }

  /** Number of leases with something to report. */
  get pending(): number {
    return this.ready.size;
  }

  /** Takes what fits into one request, of at most `leasesMax` leases; may be empty. */
  take(leasesMax = Number.POSITIVE_INFINITY): SentReport[] {
    const batch: SentReport[] = [];
    let bytes = 0;
    let leases = 0;
    for (const [lease, words] of this.ready.entries()) {
      if (leases === leasesMax) break;
      if (words.isAlone && batch.length > 0) continue;
      const lines = this.logs.get(lease)?.take(words.final !== undefined) ?? [];
      const reports = reportsOf(lease, words, lines);
      const more = reports.reduce((sum, { text }) => sum + utf8Bytes(text) + 1, 0);
      const isFull = batch.length + reports.length > LIMITS.reportsMax;
      if (isFull || (batch.length > 0 && bytes + more > REPORTS_BYTES_MAX)) break;
      batch.push(...reports);
      bytes += more;
      leases += 1;
      this.ready.delete(lease);
      words.isInFlight = true;
      words.isStarted = false;
      words.isAlive = false;
      words.progress = undefined;
      if (words.isAlone) break;
    }
    return batch;
  }

  /** The batch was answered: its leases may report again, or are finished. */
  answered(batch: readonly SentReport[]): void {
    for (const { lease, kind, text } of batch) {
      if (kind === 'log') this.logs.get(lease)?.answered(text);
    }
    for (const { lease, isFinal } of batch) {
      if (isFinal) this.drop(lease);
      else this.landed(lease);
    }
  }

  /** No answer came: the reports are sent again, unless there are newer ones. */
  unanswered(batch: readonly SentReport[]): void {
    for (const { lease, kind, text } of batch) {
      const words = this.byLease.get(lease);
      if (words === undefined) continue;
      if (words.final === undefined) {
        if (kind === 'started') words.isStarted = true;
        if (kind === 'heartbeat') words.isAlive = true;
        if (kind === 'progress') words.progress ??= text;
      }
      this.landed(lease);
    }
  }

  /**
   * The server could not read one of the reports, and did not say which. Returns the reports that
   * will not be sent again.
   */
  isolate(batch: readonly SentReport[]): SentReport[] {
    // The reports of this lease cannot be read even when sent alone. Its end matters more than its
    // lines, so the lines are dropped.
    const givenUp = batch.filter(({ lease, kind }) => {
      return kind === 'log' && this.byLease.get(lease)?.isAlone === true;
    });
    for (const { lease, text } of givenUp) this.logs.get(lease)?.answered(text);
    for (const { lease } of batch) {
      const words = this.byLease.get(lease);
      if (words !== undefined) words.isAlone = true;
    }
    this.unanswered(batch);
    return givenUp;
  }

  /** Replaces a final report that the server cannot accept. */
  replace(report: FinalReport): void {
    const words = this.byLease.get(report.lease);
    if (words?.final === undefined) return;
    words.final = report;
    this.landed(report.lease);
  }

  /**
   * The pending reports of a lease, for adding to them; undefined after its final report
   * (reports.final-last).
   */
  private openWords(lease: string): Words | undefined {
    let words = this.byLease.get(lease);
    if (words === undefined) {
      words = silent();
      this.byLease.set(lease, words);
    }
    if (words.final !== undefined) return undefined;
    if (!words.isInFlight) this.ready.set(lease, words);
    return words;
  }

  private landed(lease: string): void {
    const words = this.byLease.get(lease);
    if (words === undefined) return;
    words.isInFlight = false;
    const { isStarted, isAlive, progress, final } = words;
    const isReady = isStarted || isAlive || progress !== undefined || final !== undefined;
    const isLogSaid = this.logs.get(lease)?.isEmpty ?? true;
    if (isReady || !isLogSaid) {
      this.ready.set(lease, words);
    } else {
      this.byLease.delete(lease);
      this.ready.delete(lease);
    }
  }
}

function silent(): Words {
  return {
    isStarted: false,
    isAlive: false,
    progress: undefined,
    final: undefined,
    isInFlight: false,
    isAlone: false,
  };
}

function reportsOf(lease: string, words: Words, logs: readonly string[]): SentReport[] {
  const { isStarted, isAlive, progress, final } = words;
  const lines = logs.map((text): SentReport => ({ lease, kind: 'log', text, isFinal: false }));
  if (final !== undefined) return [...lines, final];
  const reports: SentReport[] = isStarted ? [plain(lease, 'started'), ...lines] : lines;
  if (progress !== undefined) {
    reports.push({ lease, kind: 'progress', text: progress, isFinal: false });
  } else if (isAlive && lines.length === 0) {
    // Progress and lines also count as heartbeats.
    reports.push(plain(lease, 'heartbeat'));
  }
  return reports;
}

function plain(lease: string, kind: 'started' | 'heartbeat'): SentReport {
  return {
    lease,
    kind,
    text: `{"lease":${JSON.stringify(lease)},"kind":"${kind}"}`,
    isFinal: false,
  };
}
