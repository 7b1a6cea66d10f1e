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
import type { ToldUse } from './use-watch.ts';
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
  /** Number of the server's addresses. */
  readonly addresses: number;
  readonly times?: Partial<WorkerTimes>;
  /** The session of an earlier process, and what is left of its tasks. */
  readonly adopted?: AdoptedSession;
  /** Why the worker takes no task of a type from the beginning, by type. */
  readonly unavailable?: ReadonlyMap<string, string>;
}

interface AdoptedSession {
  readonly sessionId: string;
  /** Counts the processes that had the session; higher at each start. */
  readonly generation: number;
  readonly tasks: readonly PushedTask[];
}

/** Resumes and log reports of one process; those of the next have higher numbers. */
const NUMBERS_PER_GENERATION = 2 ** 30;

/** Progress of a handler. An untyped handler may pass anything: see `shown-value.ts`. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction?: number;
  readonly message?: string;
}

const PROGRESS_MESSAGE_MAX = 1000;

/** A stopping worker without leases waits at most this long for an unreachable server. */
const GONE_MS = 2000;

/**
 * A worker's session with the server: one stream that delivers tasks, and the reports on them.
 *
 * Everything that takes time or uses the network goes through the ports. Results come back through
 * their callbacks and through the methods here. A session is started once.
 *
 * - A worker's leases outlive its connections: streams come and go, handlers keep running, and
 *   reports are sent whether or not a stream is open.
 * session.server-decides: The server decides what is lost. The worker gives up a lease only when
 *   the server says so: in `welcome.lost`, by the outcome `stale_lease`, or when it refuses the
 *   session (`session_not_found`).
 * session.answered-stop: A stopped session ends after every final report is answered, or when it is
 *   abandoned.
 *
 * Not in here: what handlers do, which their owner decides; how bytes travel, which the ports
 * decide.
 */
export class WorkerSession {
  private readonly options: WorkerSessionOptions;
  private readonly ports: WorkerPorts;
  private readonly held: HeldLeases;
  private readonly sender: ReportSender;
  private readonly connection: StreamConnection;
  private capacity: Capacity;
  private types: WorkerSessionRequest['types'];
  /** The last id from the server; empty before that, and after the server refused it. */
  private sessionId: string;
  /** Counts resumes, so that a late one does not undo a later one. */
  private resumes: number;
  /** A welcome arrived on the open stream. */
  private isWelcomed = false;
  private wasEverWelcomed = false;
  /** The stream is open, as far as the worker can tell. */
  private isConnected = false;
  private stage: 'working' | 'stopping' | 'letting_go' | 'leaving' | 'over' = 'working';
  private graceTimer: Cancel | undefined;
  private goneTimer: Cancel | undefined;

  constructor(options: WorkerSessionOptions, ports: WorkerPorts) {
    this.options = options;
    this.ports = ports;
    this.capacity = options.capacity ?? {};
    this.types = withReasons(options.types, options.unavailable);
    this.sessionId = options.adopted?.sessionId ?? '';
    this.resumes = (options.adopted?.generation ?? 0) * NUMBERS_PER_GENERATION;
    const times = { ...TIMES_DEFAULT, ...options.times };
    const { addresses } = options;
    const backoff = () => new Backoff(ports, times.backoff, addresses);
    this.sender = new ReportSender({
      ports,
      addresses,
      backoff: backoff(),
      firstLogNumber: this.resumes,
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
        finish: (report, isUrgent) => {
          this.sender.outbox.finish(report);
          this.sender.pump(isUrgent);
        },
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
    for (const task of this.options.adopted?.tasks ?? []) this.held.adopt(task);
    this.connection.open();
  }

  /** The handler of a lease has ended. Only the first end of a running lease counts. */
  finish(lease: string, ending: Ending): void {
    if (this.stage === 'over') return;
    this.held.finish(lease, ending);
    this.leaveWhenDone();
  }

  /** The newest progress counts; progress on a lease that ended is dropped. */
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

  /** The handler is alive: for tasks with a heartbeat timeout. */
  heartbeat(lease: string): void {
    if (this.held.isRunning(lease)) this.say(() => this.sender.outbox.heartbeat(lease));
  }

  /** A line that the handler wrote. */
  log(lease: string, line: string): void {
    if (this.held.isRunning(lease)) this.say(() => this.sender.outbox.log(lease, line));
  }

  /** Replaces the worker's capacity. */
  changeCapacity(capacity: Capacity): void {
    if (this.stage !== 'working') return;
    this.capacity = capacity;
    this.held.changeCapacity(capacity);
    this.sender.offerChange({ capacity });
  }

  /** Takes no task of these types for now, for the reasons given; takes those of all others. */
  changeUnavailable(reasons: ReadonlyMap<string, string>): void {
    if (this.stage !== 'working') return;
    this.types = withReasons(this.options.types, reasons);
    this.sender.offerChange({ types: this.types });
  }

  /** Says what the worker uses now of its resources. */
  tellUse(use: ToldUse): void {
    if (this.stage === 'working' && this.wasEverWelcomed) this.sender.tellUse(use);
  }

  /**
   * Takes no new tasks, gives handlers `graceMs` to end, waits until every final report is
   * answered, and hands back the rest. The notice `over` says that it is done.
   */
  stop(graceMs: number): void {
    if (this.stage !== 'working') return;
    this.stage = 'stopping';
    this.held.refuseAll();
    this.capacity = { ...this.capacity, slots: 0 };
    if (this.wasEverWelcomed) this.sender.offerChange({ capacity: this.capacity });
    this.graceTimer = this.ports.startTimer(graceMs, () => {
      this.held.letGoOfAll();
      // A handler that ends at once may still report that its task must not run again.
      this.ports.atEndOfTurn(() => {
        if (this.stage !== 'stopping') return;
        this.stage = 'letting_go';
        this.leaveWhenDone();
      });
    });
    this.leaveWhenDone();
  }

  /** Ends everything at once without telling the server, as if the process were gone. */
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
    const { addresses: _, times: __, adopted: ___, unavailable: ____, ...request } = this.options;
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
    return JSON.stringify({
      ...request,
      types: this.types,
      capacity: this.capacity,
      ...resume,
    });
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

  private welcomed({ sessionId, heartbeatMs, pingMs, resumed, lost }: Welcome): void {
    const { address } = this.connection;
    this.sessionId = sessionId;
    this.isWelcomed = true;
    this.wasEverWelcomed = true;
    this.isConnected = true;
    this.connection.markUseful();
    if (pingMs !== undefined) this.connection.expectPings(pingMs);
    for (const lease of lost) this.held.lose(lease);
    this.ports.notify({ type: 'welcomed', sessionId, resumed, address });
    this.sender.attached(sessionId, heartbeatMs, address);
    this.leaveWhenDone();
  }

  private pushed(tasks: readonly PushedTask[]): void {
    // A resume could not list more leases. Tasks that are not taken here are pushed again.
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

  /** Returns false when trying again is useless. */
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

type OfferedTypes = WorkerSessionRequest['types'];

function withReasons(types: OfferedTypes, reasons?: ReadonlyMap<string, string>): OfferedTypes {
  return types.map((offered) => {
    const unavailable = reasons?.get(offered.type);
    return unavailable === undefined ? offered : { ...offered, unavailable };
  });
}

/** A handler may divide by zero and report NaN. */
function withinUnit(fraction: number): number {
  return Math.min(1, Math.max(0, Number.isNaN(fraction) ? 0 : fraction));
}
