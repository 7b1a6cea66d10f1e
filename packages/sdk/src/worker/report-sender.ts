import type { Backoff } from '../base/backoff.ts';
import type { Cancel, HttpAnswer, RequestPort, TimePort } from '../base/ports.ts';
import { jsonOf, type Refusal, refusalOf } from '../calls/http-answers.ts';
import { type LaneRequest, RequestLane } from '../calls/request-lane.ts';
import { unsayable } from './final-reports.ts';
import { type Outcome, ReportOutbox, type SentReport } from './report-outbox.ts';

/** The API's rule: a request is sent at once while fewer than two are in flight. */
const IN_FLIGHT_MAX = 2;

/** A larger group is not split: with that many slots, one of the others is soon free. */
const GROUP_MAX = 32;

/** Minimum time to wait for an answer, however short the leases are. */
const ANSWER_WITHIN_MS_MIN = 1000;

/** A session whose end cannot be reported ends by its silence. */
const FAREWELL_TRIES = 3;

export interface ReportSenderOptions {
  readonly ports: RequestPort & TimePort;
  readonly addresses: number;
  readonly backoff: Backoff;
  /** See `AttemptLog`. */
  readonly firstLogNumber?: number;
  /** Whether there are leases to renew. */
  readonly holdsLeases: () => boolean;
  readonly onOutcome: (report: SentReport, outcome: Outcome | 'invalid') => void;
  readonly onOfferRefused: (refusal: Refusal) => void;
  /** The server does not know the session. Nothing is sent until `attached` names the session. */
  readonly onSessionUnknown: () => void;
  /** A request was answered: a stop may check again whether everything is sent. */
  readonly onSettled: () => void;
}

/** What changed of a worker's offer. */
interface OfferChange {
  readonly capacity?: object;
  readonly types?: readonly object[];
}

/**
 * Sends a worker's reports, and thereby keeps its leases alive.
 *
 * heartbeat.never-silent: While there are leases, a request is sent at least every `heartbeatMs`.
 *   It is empty only when no other request was sent. A failed request does not count: another one
 *   follows.
 * - Nothing is sent without a session that the server knew at its last answer.
 */
export class ReportSender {
  readonly outbox: ReportOutbox;
  private readonly options: ReportSenderOptions;
  private readonly lane: RequestLane;
  /** Empty before the first welcome, and while the server does not know the session. */
  private session = '';
  private heartbeatMs = 0;
  /** When the leases were last renewed, as far as the worker can tell. */
  private quietSince = 0;
  private heartbeatTimer: Cancel | undefined;
  private owesHeartbeat = false;
  /** What the worker offers, as fields of a request, until the server has confirmed it. */
  private offer: string | undefined;
  /** The values in `offer`. */
  private offered: OfferChange = {};
  private isOfferInFlight = false;
  /** What the worker uses, as a field of a request; undefined before it was measured. */
  private use: string | undefined;
  /** Whether the server has to hear of `use`. */
  private owesUse = false;
  /** Long tasks have ended together. Their slots should not get their next tasks together, too. */
  private isGroup = false;
  /** A server of an earlier version does not take it. */
  private isUseRefused = false;
  /** Set when the session is to be ended; called when that is done. */
  private onFarewell: (() => void) | undefined;
  private farewellTries = 0;

  constructor(options: ReportSenderOptions) {
    this.options = options;
    this.outbox = new ReportOutbox(options.firstLogNumber);
    const { ports, addresses, backoff } = options;
    const next = () => this.next();
    this.lane = new RequestLane({ ports, addresses, backoff, inFlightMax: IN_FLIGHT_MAX, next });
  }

  get hasSession(): boolean {
    return this.session !== '';
  }

  /** Nothing is pending, and nothing waits for an answer. */
  get isDrained(): boolean {
    return this.outbox.isEmpty && this.offer === undefined && this.lane.isIdle;
  }

  /** The server welcomed the session at this address. */
  attached(session: string, heartbeatMs: number, address: number): void {
    this.session = session;
    this.heartbeatMs = heartbeatMs;
    this.quietSince = this.options.ports.now();
    this.lane.address = address;
    // A server that was started again has forgotten it.
    this.owesUse = this.use !== undefined;
    this.watchSilence();
    this.lane.wake();
  }

  /** The server no longer accepts the session. */
  detached(): void {
    this.session = '';
  }

  /**
   * There is something to send, or a lease to keep alive. What is urgent leaves in this turn if
   * nothing else is on its way; else the next request has half of what is pending.
   */
  pump(isUrgent = false): void {
    this.watchSilence();
    if (isUrgent && this.lane.isIdle) return this.lane.pump();
    this.isGroup ||= isUrgent;
    this.lane.gather();
  }

  /** Replaces the worker's capacity or its types; the newest values count. */
  offerChange(change: OfferChange): void {
    this.offered = { ...this.offered, ...change };
    this.offer = JSON.stringify(this.offered).slice(1, -1);
    this.lane.pump();
  }

  /** Says what the worker uses now; only the newest counts, and losing it costs nothing. */
  tellUse(use: object): void {
    if (this.isUseRefused) return;
    this.use = `"measured":${JSON.stringify(use)}`;
    this.owesUse = true;
    this.lane.pump();
  }

  /** Ends the session once everything else is sent. */
  sayFarewell(done: () => void): void {
    this.onFarewell = done;
    this.lane.pump();
  }

  close(): void {
    this.heartbeatTimer?.();
    this.lane.close();
  }

  private next(): LaneRequest | undefined {
    if (this.session === '') return undefined;
    const reports = this.outbox.take(this.leasesOfNext());
    const offer = this.isOfferInFlight ? undefined : this.offer;
    const use = this.owesUse ? this.use : undefined;
    const isNothing = reports.length === 0 && offer === undefined && use === undefined;
    if (isNothing && !this.owesHeartbeat) return this.farewell();
    const { session } = this;
    const parts = [];
    if (reports.length > 0) parts.push(`"reports":[${reports.map(({ text }) => text).join(',')}]`);
    if (offer !== undefined) parts.push(offer);
    if (use !== undefined) parts.push(use);
    this.owesUse = false;
    this.owesHeartbeat = false;
    this.quietSince = this.options.ports.now();
    if (offer !== undefined) this.isOfferInFlight = true;
    return {
      method: 'POST',
      path: `/v1/worker-sessions/${session}/reports`,
      body: `{${parts.join(',')}}`,
      answerWithinMs: Math.max(ANSWER_WITHIN_MS_MIN, this.heartbeatMs),
      settled: (answer) => {
        if (offer !== undefined) this.isOfferInFlight = false;
        const isServed = this.settle({ session, reports, offer, use }, answer);
        this.options.onSettled();
        return isServed;
      },
    };
  }

  /** How many leases the next request reports on. */
  private leasesOfNext(): number {
    const { isGroup } = this;
    this.isGroup = false;
    const { pending } = this.outbox;
    return isGroup && pending <= GROUP_MAX ? Math.ceil(pending / 2) : pending;
  }

  private forgetOffer(): void {
    this.offer = undefined;
    this.offered = {};
  }

  private settle(sent: Sent, answer: HttpAnswer | undefined): boolean {
    const { session, reports, offer } = sent;
    const outcomes = answer?.status === 200 ? outcomesOf(answer, reports.length) : undefined;
    if (outcomes !== undefined) {
      if (this.offer === offer) this.forgetOffer();
      this.outbox.answered(reports);
      reports.forEach((report, index) => {
        this.options.onOutcome(report, outcomes[index]);
      });
      return true;
    }
    const refusal = answer === undefined ? undefined : refusalOf(answer);
    if (refusal !== undefined && isAboutReports(refusal)) {
      this.sortOut(sent, refusal);
      return true;
    }
    this.outbox.unanswered(reports);
    if (sent.use !== undefined) this.owesUse = true;
    this.owesHeartbeat = this.options.holdsLeases();
    if (refusal?.code !== 'session_not_found') return false;
    if (session === this.session) {
      this.session = '';
      this.options.onSessionUnknown();
    }
    return true;
  }

  /**
   * Something in the request is invalid, so nothing of it was applied. The valid rest is sent
   * again.
   */
  private sortOut({ reports, offer, use }: Sent, refusal: Refusal): void {
    const paths = refusal.details.map(({ path }) => path);
    const isOfferBad =
      offer !== undefined && paths.some((path) => /^\/(?:capacity|types)/.test(path));
    if (isOfferBad && this.offer === offer) this.forgetOffer();
    const isUseBad = use !== undefined && paths.some((path) => path.startsWith('/measured'));
    if (isUseBad) this.refuseUse();
    const isOther = isOfferBad || isUseBad;
    const bad = new Set(paths.map((path) => Number(/^\/reports\/(\d+)/.exec(path)?.[1] ?? -1)));
    if (reports.length === 1 && !isOther) bad.add(0);
    const badReports = reports.filter((_, index) => bad.has(index));
    if (badReports.length === 0 && !isOther) {
      for (const report of this.outbox.isolate(reports)) this.options.onOutcome(report, 'invalid');
      return;
    }
    for (const report of badReports) this.takeBack(report, refusal);
    this.outbox.unanswered(reports.filter((_, index) => !bad.has(index)));
    if (isOfferBad) this.options.onOfferRefused(refusal);
  }

  private refuseUse(): void {
    this.isUseRefused = true;
    this.owesUse = false;
    this.use = undefined;
  }

  /**
   * A final report that cannot be accepted becomes a failure. A failure that cannot be accepted is
   * given up.
   */
  private takeBack(report: SentReport, refusal: Refusal): void {
    if (report.isFinal && report.kind !== 'failed') {
      this.outbox.replace(unsayable(report.lease, 'report_refused', refusal.message));
      return;
    }
    this.outbox.answered([report]);
    this.options.onOutcome(report, 'invalid');
  }

  private farewell(): LaneRequest | undefined {
    if (this.onFarewell === undefined || !this.isDrained) return undefined;
    this.farewellTries += 1;
    return {
      method: 'DELETE',
      path: `/v1/worker-sessions/${this.session}`,
      answerWithinMs: Math.max(ANSWER_WITHIN_MS_MIN, this.heartbeatMs),
      settled: (answer) => {
        // Any answer except a temporary refusal means that the session is over, or that there was
        // none.
        const isOver = answer !== undefined && answer.status < 429;
        if (!isOver && this.farewellTries < FAREWELL_TRIES) return false;
        this.session = '';
        this.onFarewell?.();
        return true;
      },
    };
  }

  private watchSilence(): void {
    if (this.session === '' || this.heartbeatTimer !== undefined) return;
    if (!this.options.holdsLeases()) return;
    // Leases count from when they were given: earlier requests do not renew them.
    this.quietSince = Math.max(this.quietSince, this.options.ports.now());
    this.startHeartbeatTimer();
  }

  private startHeartbeatTimer(): void {
    const { ports, holdsLeases } = this.options;
    const delayMs = Math.max(1, this.quietSince + this.heartbeatMs - ports.now());
    this.heartbeatTimer = ports.startTimer(delayMs, () => {
      this.heartbeatTimer = undefined;
      if (this.session === '' || !holdsLeases()) return;
      if (ports.now() - this.quietSince >= this.heartbeatMs) {
        this.owesHeartbeat = true;
        // It may have to wait for its turn; the next check is a while away in any case.
        this.quietSince = ports.now();
        this.lane.pump();
      }
      this.startHeartbeatTimer();
    });
  }
}

/** Whether the server will never accept these reports, however often they are sent. */
function isAboutReports({ status, code }: Refusal): boolean {
  return status === 400 || status === 413 || code === 'blob_not_found';
}

/** The content of one request. */
interface Sent {
  readonly session: string;
  readonly reports: readonly SentReport[];
  readonly offer: string | undefined;
  readonly use: string | undefined;
}

/** One outcome per report, or undefined when the answer does not fit the request. */
function outcomesOf(answer: HttpAnswer, count: number): readonly Outcome[] | undefined {
  const body = jsonOf(answer) as { outcomes?: unknown } | null | undefined;
  const outcomes = body?.outcomes;
  if (!Array.isArray(outcomes) || outcomes.length !== count) return undefined;
  return outcomes as Outcome[];
}
