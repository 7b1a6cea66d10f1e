import { type HttpClient, type HttpStream, NoAnswerError } from '../support/http-client.ts';
import {
  type FinalReport,
  openWorkerStream,
  type PushedTask,
  sendReports,
  type Welcome,
} from '../support/worker-client.ts';
import type { Flight } from './flight.ts';
import type { Ledger } from './ledger.ts';
import { type LedgerInput, outputOf, planOf, TASK_TYPE } from './ledger-task.ts';
import type { Random } from './random.ts';

export interface LedgerWorkerOptions {
  readonly number: number;
  readonly slots: number;
  /** A task takes up to this long. */
  readonly holdMsMax: number;
  readonly ledger: Ledger;
  readonly random: Random;
}

interface Connection {
  readonly http: HttpClient;
  readonly flight: Flight;
  readonly stream: HttpStream;
}

const REPORT_REQUESTS_MAX = 8;
const REPORTS_PER_REQUEST_MAX = 40;

/**
 * One worker session that outlives the servers it talks to.
 *
 * - A lease is held from its push until its final report is answered, and `resume.running` lists
 *   exactly those.
 * - A final report without an answer is sent again to the next server, and only then.
 * - The next stream is opened after the last byte of the one before was read.
 */
export class LedgerWorker {
  private readonly options: LedgerWorkerOptions;
  /** Undefined until the first welcome. */
  private sessionId: string | undefined;
  private readonly held = new Map<string, PushedTask>();
  /** Leases whose handler has ended and whose report is not sent yet. */
  private readonly done: string[] = [];
  private readonly outstanding = new Set<Promise<void>>();
  /** Undefined before the first connect. */
  private connection: Connection | undefined;
  private mayReport = false;
  isWelcome = false;

  constructor(options: LedgerWorkerOptions) {
    this.options = options;
  }

  get hasSession(): boolean {
    return this.sessionId !== undefined;
  }

  get isIdle(): boolean {
    return this.held.size === 0;
  }

  /** Opens or resumes the session. Pending reports are sent first, or wait for the welcome. */
  connect(http: HttpClient, flight: Flight, leaseMs: number): void {
    const { number, slots, ledger, random } = this.options;
    const running = [...this.held.keys()];
    ledger.write({ kind: 'resuming', worker: number, running });
    const { sessionId } = this;
    const request = {
      name: `ledger-${number}`,
      types: [{ type: TASK_TYPE }],
      capacity: { slots },
      leaseMs,
      ...(sessionId === undefined ? {} : { resume: { sessionId, running } }),
    };
    const stream = openWorkerStream(http, request, {
      onWelcome: (welcome) => this.onWelcome(welcome),
      onTasks: (tasks) => this.onTasks(tasks),
    });
    this.connection = { http, flight, stream };
    this.mayReport = random.chance(0.5);
    this.flush();
  }

  /** Sends nothing from now on. Handlers continue. */
  suspend(): void {
    this.mayReport = false;
    this.isWelcome = false;
  }

  /** Resolves when nothing more can arrive from the killed server. */
  async disconnected(): Promise<void> {
    await this.connection?.stream.closed;
    await Promise.all(this.outstanding);
    this.suspend();
  }

  private onWelcome({ sessionId, lost }: Welcome): void {
    this.options.ledger.write({ kind: 'welcomed', worker: this.options.number, lost });
    this.sessionId = sessionId;
    this.isWelcome = true;
    this.mayReport = true;
    this.flush();
  }

  private onTasks(pushed: readonly PushedTask[]): void {
    const { number, holdMsMax, ledger, random } = this.options;
    const tasks = pushed.map(({ id, lease, attempt, input }) => {
      return { ...(input as LedgerInput), id, lease, attempt };
    });
    ledger.write({ kind: 'pushed', worker: number, tasks, at: Date.now() });
    for (const task of pushed) {
      this.held.set(task.lease, task);
      const holdMs = random.between(0, holdMsMax);
      if (holdMs === 0) setImmediate(() => this.finish(task));
      else setTimeout(() => this.finish(task), holdMs);
    }
  }

  /** The end of a handler. Its effect must happen once per task. */
  private finish({ id, lease }: PushedTask): void {
    this.options.ledger.write({ kind: 'executed', task: id, lease });
    this.done.push(lease);
    this.flush();
  }

  private flush(): void {
    const { connection, sessionId } = this;
    if (connection === undefined || sessionId === undefined) return;
    while (this.mayReport && this.done.length > 0) {
      if (this.outstanding.size >= REPORT_REQUESTS_MAX) return;
      const leases = this.done.splice(0, this.options.random.between(1, REPORTS_PER_REQUEST_MAX));
      const sending = this.report(connection, sessionId, leases).then(() => {
        this.outstanding.delete(sending);
        this.flush();
      });
      this.outstanding.add(sending);
    }
  }

  private async report(
    { http, flight }: Connection,
    sessionId: string,
    leases: readonly string[],
  ): Promise<void> {
    const { ledger, number } = this.options;
    const reports = leases.map((lease) => this.reportOn(lease));
    ledger.write({ kind: 'reporting', worker: number, leases });
    try {
      const outcomes = await flight.track((onSent) =>
        sendReports(http, sessionId, { reports, onSent }),
      );
      ledger.write({ kind: 'answered', worker: number, leases, outcomes });
      for (const lease of leases) this.held.delete(lease);
    } catch (cause) {
      this.mayReport = false;
      if (cause instanceof NoAnswerError) this.done.unshift(...leases);
      else ledger.write({ kind: 'unexpected', problem: (cause as Error).message });
    }
  }

  private reportOn(lease: string): FinalReport {
    const { attempt = 0, input } = this.held.get(lease) ?? {};
    const task = input as LedgerInput;
    if (attempt > planOf(task).failures)
      return { lease, kind: 'succeeded', output: outputOf(task) };
    return { lease, kind: 'failed', error: { message: 'as planned' } };
  }
}
