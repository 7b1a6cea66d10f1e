import type { Capacity, PushedTask, Welcome, WorkerSessionRequest } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from '../base/backoff.ts';
import type { Cancel } from '../base/ports.ts';
import { clippedText, numberOf } from '../base/shown-value.ts';
import type { StreamEvent } from '../calls/event-stream.ts';
import { isPassing, type Refusal } from '../calls/http-answers.ts';
import type { Ending, FinalKind } from './final-reports.ts';
import { HeldLeases, type LeaseTimes } from './held-leases.ts';
import { ReportSender } from './report-sender.ts';
import { StreamConnection, type StreamTimes } from './stream-connection.ts';
import { readEvent } from './stream-events.ts';
import type { WorkerPorts } from './worker-ports.ts';
import { WorkerRoom } from './worker-room.ts';

export interface WorkerTimes extends StreamTimes, LeaseTimes {
  readonly backoff: BackoffOptions;
}

const TIMES_DEFAULT: WorkerTimes = {
  silenceMs: 15_000,
  stableMs: 10_000,
  roomWaitMs: 1000,
  startedAfterMs: 500,
  backoff: BACKOFF_DEFAULT,
};

export interface WorkerSessionOptions extends Omit<WorkerSessionRequest, 'resume'> {
  /** How many addresses the server has. */
  readonly addresses: number;
  readonly times?: Partial<WorkerTimes>;
}

/** How far a handler is. A handler without types may say anything: see `shown-value.ts`. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction?: number;
  readonly message?: string;
}

const PROGRESS_MESSAGE_MAX = 1000;

/** Who stops and holds nothing waits no longer than this for a server that is gone. */
const GONE_MS = 2000;

/**
 * A worker's session with the server: one stream on which tasks arrive, and the reports on them.
 *
 * Everything that takes time or goes over the network is asked of the ports; what comes of it
 * comes back through their callbacks and through the methods here. A session is for one `start`.
 *
 * U1 What a worker holds outlives its connections: streams come and go, handlers run on, and
 *    reports are sent whether or not a stream is open.
 * U2 The server says what is lost. This side gives up a lease only on its word: in `welcome.lost`,
 *    by the outcome `stale_lease`, or when it will not have the session (`session_not_found`).
 * U3 A stopped session ends after every final report is answered, or when it is abandoned.
 *
 * Not in here: what handlers do, which is their owner's; how bytes travel, which is the ports'.
 */
export class WorkerSession {
  private readonly options: WorkerSessionOptions;
  private readonly ports: WorkerPorts;
  private readonly held: HeldLeases;
  private readonly sender: ReportSender;
  private readonly connection: StreamConnection;
  private capacity: Capacity;
  /** The last id that the server gave; empty before that, and when it will not have it. */
  private sessionId = '';
  /** Counts resumes, so that one that arrives late does not undo a later one. */
  private resumes = 0;
  /** A welcome was heard on the stream that is open. */
  private isWelcomed = false;
  private wasEverWelcomed = false;
  /** The stream is open, as far as this side can tell. */
  private isConnected = false;
  private stage: 'working' | 'stopping' | 'letting_go' | 'leaving' | 'over' = 'working';
  private graceTimer: Cancel | undefined;
  private goneTimer: Cancel | undefined;

  constructor(options: WorkerSessionOptions, ports: WorkerPorts) {
    this.options = options;
    this.ports = ports;
    this.capacity = options.capacity ?? {};
    const times = { ...TIMES_DEFAULT, ...options.times };
    const { addresses } = options;
    const backoff = () => new Backoff(ports, times.backoff, addresses);
    this.sender = new ReportSender({
      ports,
      addresses,
      backoff: backoff(),
      holdsLeases: () => this.held.size > 0,
      onOutcome: ({ lease, kind, isFinal }, outcome) => {
        if (isFinal) this.answered(lease, kind as FinalKind, outcome);
        else if (outcome === 'stale_lease') this.held.lose(lease);
        else if (kind === 'log' && outcome === 'invalid') ports.notify({ type: 'lines_refused' });
      },
      onOfferRefused: (refusal) => ports.notify({ type: 'offer_refused', refusal }),
      onSessionUnknown: () => this.connection.reconnect('the server does not know the session'),
      onSettled: () => this.leaveWhenDone(),
    });
    this.held = new HeldLeases({
      ports,
      times,
      room: new WorkerRoom(this.capacity, options.types),
      reports: {
        started: (lease) => this.say(() => this.sender.outbox.started(lease)),
        finish: (report) => this.say(() => this.sender.outbox.finish(report)),
        drop: (lease) => this.sender.outbox.drop(lease),
      },
    });
    this.connection = new StreamConnection({
      ports,
      addresses,
      times,
      backoff: backoff(),
      body: () => this.openingBody(),
      onEvent: (event) => this.hear(event),
      onRefused: (refusal) => this.refused(refusal),
      onBroken: (why, retryInMs) => {
        this.isConnected = false;
        ports.notify({ type: 'disconnected', why, retryInMs });
        this.leaveWhenDone();
      },
    });
  }

  start(): void {
    this.connection.open();
  }

  /** The handler of a lease has ended. The first end of a lease counts, and only while it runs. */
  finish(lease: string, ending: Ending): void {
    if (this.stage === 'over') return;
    this.held.finish(lease, ending);
    this.leaveWhenDone();
  }

  /** The newest word counts; nothing is kept of a lease that ended. */
  progress(lease: string, { fraction, message }: Progress): void {
    if (!this.held.isRunning(lease)) return;
    const part = numberOf(fraction);
    const text = JSON.stringify({
      lease,
      kind: 'progress',
      ...(part === undefined ? {} : { fraction: withinUnit(part) }),
      ...(message === undefined ? {} : { message: clippedText(message, PROGRESS_MESSAGE_MAX) }),
    });
    this.say(() => this.sender.outbox.progress(lease, text));
  }

  /** The handler is alive: for tasks that time out by their silence. */
  heartbeat(lease: string): void {
    if (this.held.isRunning(lease)) this.say(() => this.sender.outbox.heartbeat(lease));
  }

  /** A line that the handler wrote. */
  log(lease: string, line: string): void {
    if (this.held.isRunning(lease)) this.say(() => this.sender.outbox.log(lease, line));
  }

  /** All that the worker offers from now on. */
  changeCapacity(capacity: Capacity): void {
    if (this.stage !== 'working') return;
    this.capacity = capacity;
    this.held.changeCapacity(capacity);
    this.sender.offerCapacity(capacity);
  }

  /**
   * Takes nothing new, lets handlers end for as long as `graceMs`, has every final report answered,
   * and hands back the rest. The notice `over` says that it is done.
   */
  stop(graceMs: number): void {
    if (this.stage !== 'working') return;
    this.stage = 'stopping';
    this.held.refuseAll();
    this.capacity = { ...this.capacity, slots: 0 };
    if (this.wasEverWelcomed) this.sender.offerCapacity(this.capacity);
    this.graceTimer = this.ports.startTimer(graceMs, () => {
      this.held.letGoOfAll();
      // A handler that ends at once may still say that its task must not run again.
      this.ports.atEndOfTurn(() => {
        if (this.stage !== 'stopping') return;
        this.stage = 'letting_go';
        this.leaveWhenDone();
      });
    });
    this.leaveWhenDone();
  }

  /** Ends everything at once and says nothing to anybody, as if the process were gone. */
  abandon(): void {
    this.stage = 'over';
    this.graceTimer?.();
    this.goneTimer?.();
    this.connection.close();
    this.sender.close();
    this.held.close();
  }

  private say(speak: () => void): void {
    speak();
    this.sender.pump();
  }

  private openingBody(): string {
    const { addresses: _, times: __, ...request } = this.options;
    this.isWelcomed = false;
    const resume =
      this.sessionId === ''
        ? {}
        : {
            resume: {
              sessionId: this.sessionId,
              running: this.held.leases(),
              number: ++this.resumes,
            },
          };
    return JSON.stringify({ ...request, capacity: this.capacity, ...resume });
  }

  private hear(event: StreamEvent): void {
    const said = readEvent(event);
    const isSense = said?.name === 'welcome' || said?.name === 'other' || this.isWelcomed;
    if (said === undefined || !isSense) {
      this.connection.reconnect(`the server sent an event '${event.name}' that makes no sense`);
      return;
    }
    if (said.name === 'welcome') this.welcomed(said.welcome);
    if (said.name === 'tasks') this.pushed(said.tasks);
    if (said.name === 'cancel') this.held.cancel(said.notice);
    if (said.name === 'signal') this.held.signal(said.notice);
    if (said.name === 'drain') this.connection.reconnect('the server is going away');
  }

  private welcomed({ sessionId, heartbeatMs, resumed, lost }: Welcome): void {
    const { address } = this.connection;
    this.sessionId = sessionId;
    this.isWelcomed = true;
    this.wasEverWelcomed = true;
    this.isConnected = true;
    this.connection.markUseful();
    for (const lease of lost) this.held.lose(lease);
    this.ports.notify({ type: 'welcomed', sessionId, resumed, address });
    this.sender.attached(sessionId, heartbeatMs, address);
    this.leaveWhenDone();
  }

  private pushed(tasks: readonly PushedTask[]): void {
    // More could not be listed at a resume. What is not taken here comes again, at no cost.
    if (this.held.size + tasks.length > LIMITS.slotsMax) {
      this.connection.reconnect('too many leases wait for their reports to be answered');
      return;
    }
    for (const task of tasks) this.held.take(task);
    this.sender.pump();
  }

  private answered(lease: string, kind: FinalKind, outcome: SessionOutcome): void {
    this.held.answered(lease);
    this.ports.notify({ type: 'report_answered', lease, kind, outcome });
  }

  /** False when it is of no use to try again. */
  private refused(refusal: Refusal): boolean {
    if (refusal.code === 'session_not_found') {
      this.sender.detached();
      this.sessionId = '';
      for (const lease of this.held.leases()) this.held.lose(lease);
      return true;
    }
    if (isPassing(refusal) || this.wasEverWelcomed) return true;
    this.end(refusal);
    return false;
  }

  private leaveWhenDone(): void {
    if (this.stage !== 'stopping' && this.stage !== 'letting_go') return;
    if (this.stage === 'stopping' && this.held.active > 0) return;
    if (this.owesNothing && !this.isConnected) {
      this.goneTimer ??= this.ports.startTimer(GONE_MS, () => {
        this.goneTimer = undefined;
        if (this.owesNothing && !this.isConnected) this.end();
      });
    }
    if (!this.sender.isDrained) return;
    this.stage = 'leaving';
    this.connection.close();
    if (this.sender.hasSession) this.sender.sayFarewell(() => this.end());
    else this.end();
  }

  private get owesNothing(): boolean {
    return this.held.size === 0 && this.sender.outbox.isEmpty;
  }

  private end(refusal?: Refusal): void {
    this.abandon();
    this.ports.notify({ type: 'over', ...(refusal === undefined ? {} : { refusal }) });
  }
}

type SessionOutcome = Parameters<ConstructorParameters<typeof ReportSender>[0]['onOutcome']>[1];

/** Handlers divide by zero, too. */
function withinUnit(fraction: number): number {
  return Math.min(1, Math.max(0, Number.isNaN(fraction) ? 0 : fraction));
}
