import type { PushedTask, Welcome } from '@sluice/protocol';
import type {
  Cancel,
  HttpAnswer,
  HttpRequest,
  RequestPort,
  StreamListener,
  StreamPort,
} from '../base/ports.ts';
import { EventStreamParser } from '../calls/event-stream.ts';
import type { Ending } from '../worker/final-reports.ts';
import type { AbortReason, SessionNotice, WorkerPorts } from '../worker/worker-ports.ts';
import { WorkerSession } from '../worker/worker-session.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { VirtualTime } from './virtual-time.ts';

interface Report {
  readonly lease: string;
  readonly kind: string;
}

const VOLATILE = ['started', 'progress', 'heartbeat', 'log'];
const HANDLER_MS_MAX = 3000;

/**
 * A session whose traffic and handler calls are compared with the API's rules. The first violation
 * throws.
 */
export class WatchedWorker implements WorkerPorts {
  readonly session: WorkerSession;
  private readonly time: VirtualTime;
  private readonly chances: SeededRandom;
  private readonly network: RequestPort & StreamPort;
  /** Every lease whose handler was started, and whether it has ended. */
  private readonly handlers = new Map<string, 'running' | 'ended'>();
  /** Leases whose handlers ended while this worker held them. */
  private readonly finished = new Set<string>();
  /** Leases that a stopping worker did not wait for. */
  private readonly handedBack = new Set<string>();
  /** Leases that a resume must list now. */
  private readonly unanswered = new Set<string>();
  private readonly answers = new Map<string, string>();
  private readonly finalTexts = new Map<string, string>();
  /** Leases that ended without a report, because they are handed back. */
  private readonly letGo = new Set<string>();
  /** Log reports that were sent. */
  private readonly saidLines = new Set<string>();
  private requestsInFlight = 0;
  /** Lines that each handler wrote while it ran. */
  readonly written = new Map<string, string[]>();
  isOver = false;
  resumes = 0;
  losses = 0;

  constructor(time: VirtualTime, chances: SeededRandom, network: RequestPort & StreamPort) {
    this.time = time;
    this.chances = chances;
    this.network = network;
    const offer = { types: [{ type: 'a' }], capacity: { slots: 1000 } };
    this.session = new WorkerSession({ name: 'w', ...offer, addresses: 2 }, this);
    this.session.start();
  }

  get unansweredLeases(): string[] {
    return [...this.unanswered];
  }

  /** Leases with a final report that was never answered. */
  get unheard(): string[] {
    return [...this.finished].filter((lease) => !this.answers.has(lease));
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    const { resume } = JSON.parse(request.body ?? '') as { resume?: { running: string[] } };
    const listed = (resume?.running ?? []).toSorted();
    check('a resume lists what is unanswered', listed, this.unansweredLeases.toSorted());
    if (resume !== undefined) this.resumes += 1;
    let isOpen = true;
    const parser = new EventStreamParser(({ name, data }) => {
      if (!isOpen) return;
      if (name === 'tasks') {
        for (const { lease } of JSON.parse(data) as PushedTask[]) this.unanswered.add(lease);
      }
      if (name === 'welcome')
        for (const lease of (JSON.parse(data) as Welcome).lost) this.lost(lease);
    });
    const close = this.network.openStream(request, {
      bytes: (chunk) => {
        parser.push(chunk);
        listener.bytes(chunk);
      },
      ended: (refusal) => listener.ended(refusal),
    });
    return () => {
      isOpen = false;
      close();
    };
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    const { reports = [] } = JSON.parse(request.body ?? '{}') as { reports?: Report[] };
    for (const report of reports) this.checkReport(report);
    this.requestsInFlight += 1;
    check('requests in flight', Math.min(this.requestsInFlight, 2), this.requestsInFlight);
    let isOpen = true;
    const settled = (): void => {
      if (isOpen) this.requestsInFlight -= 1;
      isOpen = false;
    };
    const cancel = this.network.send(request, (answer) => {
      if (isOpen && answer?.status === 200) this.hearOutcomes(reports, answer);
      settled();
      answered(answer);
    });
    return () => {
      settled();
      cancel();
    };
  }

  run(task: PushedTask): void {
    const { lease } = task;
    check('handlers of one lease', this.handlers.has(lease), false);
    this.handlers.set(lease, 'running');
    const durationMs = this.chances.next() ** 3 * HANDLER_MS_MAX;
    this.time.startTimer(durationMs, () => this.end(lease));
    this.written.set(lease, []);
    const lines = this.chances.chance(0.5) ? 5 : 0;
    for (let n = 0; n < lines; n++) {
      this.time.startTimer(this.chances.next() * durationMs, () => this.write(lease, `line ${n}`));
    }
    if (this.chances.chance(0.3)) {
      this.time.startTimer(durationMs / 2, () => this.session.progress(lease, { fraction: 0.5 }));
    }
  }

  abort(lease: string, reason: AbortReason): void {
    check('an abort is for a handler that runs', this.handlers.get(lease), 'running');
    if (reason.type === 'lease_lost') this.losses += 1;
    if (reason.type === 'stopping') this.handedBack.add(lease);
    if (this.chances.chance(0.5)) this.end(lease, { kind: 'cancelled' });
  }

  signal(): void {}

  notify(notice: SessionNotice): void {
    if (notice.type === 'over') this.isOver = true;
    if (notice.type !== 'report_answered') return;
    check('answers to a final report', this.answers.has(notice.lease), false);
    this.answers.set(notice.lease, notice.outcome);
    this.unanswered.delete(notice.lease);
  }

  now(): number {
    return this.time.now();
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    return this.time.startTimer(delayMs, run);
  }

  atEndOfTurn(run: () => void): void {
    this.time.atEndOfTurn(run);
  }

  random(): number {
    return this.chances.next();
  }

  wallTime(): number {
    return this.time.now();
  }

  private write(lease: string, line: string): void {
    if (this.handlers.get(lease) !== 'running') return;
    this.written.get(lease)?.push(line);
    this.session.log(lease, line);
  }

  private end(lease: string, ending?: Ending): void {
    if (this.handlers.get(lease) === 'ended') return;
    this.handlers.set(lease, 'ended');
    const isHandedBack = this.isOver || this.handedBack.has(lease);
    if (this.unanswered.has(lease) && !isHandedBack) this.finished.add(lease);
    const refused = { kind: 'refused' } as const;
    const usual = this.chances.chance(0.1)
      ? refused
      : { kind: 'succeeded' as const, output: JSON.stringify(lease) };
    if (this.handedBack.has(lease) && ending?.kind === 'cancelled') this.letGo.add(lease);
    this.session.finish(lease, ending ?? usual);
  }

  /**
   * The server took the lease away. A lease without a final report is forgotten; one with a final
   * report waits for its answer.
   */
  private lost(lease: string): void {
    // If it never had a handler, the session itself refused it, which is a final report, too.
    const hasEnd = this.handlers.get(lease) !== 'running' && !this.letGo.has(lease);
    if (!hasEnd) this.unanswered.delete(lease);
  }

  private hearOutcomes(reports: readonly Report[], answer: HttpAnswer): void {
    const { outcomes } = JSON.parse(answer.text) as { outcomes: string[] };
    reports.forEach(({ lease, kind }, index) => {
      if (VOLATILE.includes(kind) && outcomes[index] === 'stale_lease') this.lost(lease);
    });
  }

  private checkReport(report: Report): void {
    const text = JSON.stringify(report);
    const final = this.finalTexts.get(report.lease);
    if (report.kind === 'log') {
      const isNew = !this.saidLines.has(text);
      check('no new lines follow a final report', final !== undefined && isNew, false);
      this.saidLines.add(text);
      return;
    }
    if (final !== undefined) check('what follows a final report is the same again', text, final);
    else if (!VOLATILE.includes(report.kind)) this.finalTexts.set(report.lease, text);
  }
}

function check(rule: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${rule}: found ${a}, expected ${b}`);
}
