import type { CancelNotice, Capacity, PushedTask, SignalNotice } from '@sluice/protocol';
import type { Cancel } from '../base/ports.ts';
import { RenewedMap } from '../base/renewed-map.ts';
import { type Ending, type FinalReport, finalReport } from './final-reports.ts';
import type { AbortReason, WorkerPorts } from './worker-ports.ts';
import { type Needs, needsOf, type WorkerRoom } from './worker-room.ts';

export interface LeaseTimes {
  /**
   * A push that finds no room waits for it this long, and is refused then. A refusal at once would
   * bring the next push at once, as long as the server thinks that there is room.
   */
  readonly roomWaitMs: number;
  /** A handler that runs longer than this is reported as started. */
  readonly startedAfterMs: number;
}

/** A longer time-out is left to the server: many a timer runs over at once beyond this. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A client sends a signal again within a minute; of more signals the newest are remembered. */
const SIGNAL_KEYS_MAX = 1000;

/** Where the words about leases go. */
interface LeaseReports {
  started(lease: string): void;
  finish(report: FinalReport): void;
  /** Nothing is to be said of it any more. */
  drop(lease: string): void;
}

export interface HeldLeasesOptions {
  readonly ports: WorkerPorts;
  readonly reports: LeaseReports;
  readonly room: WorkerRoom;
  readonly times: LeaseTimes;
}

interface Held {
  readonly task: PushedTask;
  readonly needs: Needs;
  readonly receivedAt: number;
  /**
   * `waiting` for room, `running`, `ended` with a final report that was not answered, or `let_go`
   * without one.
   */
  phase: 'waiting' | 'running' | 'ended' | 'let_go';
  /** By the wall clock; 0 before it runs. */
  startedAt: number;
  isAborted: boolean;
  /** Keys of the signals that it heard, oldest first; absent before the first. */
  signalKeys: Set<string> | undefined;
  /** Cancels the time-out of its run, if it has one. */
  cancelTimeout: Cancel | undefined;
}

/**
 * The leases that a worker has, and the handlers that run under them.
 *
 * G1 A lease is held from its push until its final report is answered or the server says that it is
 *    lost. Exactly the held ones are listed when the session is resumed.
 * G2 A lease starts one handler at the most, however often it is pushed.
 * G3 A lease that is lost before its handler ended is forgotten: the handler is aborted, and what
 *    it still says is dropped. One with a final report stays until that is answered, because the
 *    report may have been what ended it: then the answer is `duplicate`.
 * G4 A handler uses room until it ends, with or without a lease.
 */
export class HeldLeases {
  private readonly options: HeldLeasesOptions;
  private readonly held = new RenewedMap<string, Held>();
  /** What handlers use that still run though their leases are gone. */
  private readonly strays = new Map<string, Needs>();
  /** Pushes that wait for room, oldest first. */
  private readonly waiting = new Set<Held>();
  /** Handlers that were not reported as started, oldest first. */
  private readonly unsaid = new RenewedMap<string, Held>();
  private roomTimer: Cancel | undefined;
  private startedTimer: Cancel | undefined;
  private isStopping = false;
  /** What still runs will be handed back. */
  private isLettingGo = false;
  /** Handlers and waiting pushes, strays left out. */
  active = 0;

  constructor(options: HeldLeasesOptions) {
    this.options = options;
  }

  get size(): number {
    return this.held.size;
  }

  leases(): string[] {
    return [...this.held.keys()];
  }

  isRunning(lease: string): boolean {
    return this.held.get(lease)?.phase === 'running';
  }

  /** The task was pushed: runs it, lets it wait for room, or refuses it. */
  take(task: PushedTask): void {
    const { lease } = task;
    if (this.held.has(lease) || this.strays.has(lease)) return;
    const held: Held = {
      task,
      needs: needsOf(task),
      receivedAt: this.options.ports.now(),
      phase: 'waiting',
      startedAt: 0,
      isAborted: false,
      signalKeys: undefined,
      cancelTimeout: undefined,
    };
    this.held.set(lease, held);
    this.active += 1;
    if (this.isStopping) {
      this.end(held, { kind: 'refused' });
    } else if (this.options.room.fits(held.needs)) {
      this.run(held);
    } else {
      this.waiting.add(held);
      this.watchRoom();
    }
  }

  /** The handler of the lease has ended. */
  finish(lease: string, ending: Ending): void {
    const { room } = this.options;
    const stray = this.strays.get(lease);
    const held = this.held.get(lease);
    if (stray !== undefined) {
      this.strays.delete(lease);
      room.giveBack(stray);
    } else if (held?.phase === 'running') {
      room.giveBack(held.needs);
      if (this.isLettingGo && isGivingUp(ending)) this.endSilently(held);
      else this.end(held, ending);
    } else {
      return;
    }
    this.useRoom();
  }

  cancel({ lease, graceMs, reason }: CancelNotice): void {
    const held = this.held.get(lease);
    if (held?.phase === 'waiting') {
      this.waiting.delete(held);
      this.end(held, { kind: 'cancelled' });
      return;
    }
    const type = reason.endsWith('timeout') ? 'timed_out' : 'cancelled';
    if (held?.phase === 'running') this.abort(held, { type, graceMs, reason });
  }

  /** A word for the handler. One that was sent again is heard once. */
  signal({ lease, name, data, key }: SignalNotice): void {
    const held = this.held.get(lease);
    if (held?.phase !== 'running') return;
    if (key !== undefined) {
      held.signalKeys ??= new Set();
      if (held.signalKeys.has(key)) return;
      held.signalKeys.add(key);
      const [oldest] = held.signalKeys;
      if (held.signalKeys.size > SIGNAL_KEYS_MAX) held.signalKeys.delete(oldest);
    }
    this.options.ports.signal(lease, name, data);
  }

  /** The server says that the lease is no longer this worker's (G3). */
  lose(lease: string): void {
    const held = this.held.get(lease);
    if (held === undefined || held.phase === 'ended') return;
    this.held.delete(lease);
    if (held.phase === 'let_go') return;
    this.waiting.delete(held);
    this.settleDown(held);
    this.options.reports.drop(lease);
    if (held.phase === 'waiting') return;
    this.strays.set(lease, held.needs);
    this.abort(held, { type: 'lease_lost' });
  }

  /** The final report of the lease was answered. */
  answered(lease: string): void {
    if (this.held.get(lease)?.phase === 'ended') this.held.delete(lease);
  }

  changeCapacity(capacity: Capacity): void {
    this.options.room.change(capacity);
    this.useRoom();
  }

  /** From now on every push is refused, also those that wait. */
  refuseAll(): void {
    this.isStopping = true;
    for (const held of this.waiting) this.end(held, { kind: 'refused' });
    this.waiting.clear();
  }

  /** Nobody waits any longer for the handlers that still run: their tasks will be handed back. */
  letGoOfAll(): void {
    this.isLettingGo = true;
    for (const held of this.held.values()) {
      if (held.phase === 'running') this.abort(held, { type: 'stopping' });
    }
  }

  close(): void {
    this.roomTimer?.();
    this.startedTimer?.();
    for (const held of this.held.values()) held.cancelTimeout?.();
  }

  private run(held: Held): void {
    const { ports, room } = this.options;
    const { task } = held;
    held.phase = 'running';
    held.startedAt = Math.floor(ports.wallTime());
    room.take(held.needs);
    this.unsaid.set(task.lease, held);
    this.watchStarted();
    const runMs = task.runTimeoutMs ?? Number.POSITIVE_INFINITY;
    if (runMs <= TIMER_MS_MAX) {
      const leftMs = Math.max(0, held.receivedAt + runMs - ports.now());
      held.cancelTimeout = ports.startTimer(leftMs, () => {
        this.abort(held, { type: 'timed_out', graceMs: 0, reason: 'run_timeout' });
      });
    }
    ports.run(task);
  }

  private end(held: Held, ending: Ending): void {
    held.phase = 'ended';
    this.settleDown(held);
    this.options.reports.finish(finalReport(held.task.lease, ending, held.startedAt));
  }

  /** Handing the task back says it all; until then the lease is held as before. */
  private endSilently(held: Held): void {
    held.phase = 'let_go';
    this.settleDown(held);
    this.options.reports.drop(held.task.lease);
  }

  /** Nothing happens to it by itself any more. */
  private settleDown(held: Held): void {
    this.active -= 1;
    this.unsaid.delete(held.task.lease);
    held.cancelTimeout?.();
  }

  private abort(held: Held, reason: AbortReason): void {
    if (held.isAborted) return;
    held.isAborted = true;
    this.options.ports.abort(held.task.lease, reason);
  }

  /** Something was given back: whoever waited longest and fits goes first. */
  private useRoom(): void {
    for (const held of this.waiting) {
      if (!this.options.room.fits(held.needs)) continue;
      this.waiting.delete(held);
      this.run(held);
    }
  }

  private watchRoom(): void {
    const { ports, times } = this.options;
    const [oldest] = this.waiting;
    if (oldest === undefined || this.roomTimer !== undefined) return;
    const delayMs = Math.max(1, oldest.receivedAt + times.roomWaitMs - ports.now());
    this.roomTimer = ports.startTimer(delayMs, () => {
      this.roomTimer = undefined;
      for (const held of this.waiting) {
        if (ports.now() - held.receivedAt < times.roomWaitMs) break;
        this.waiting.delete(held);
        this.end(held, { kind: 'refused' });
      }
      this.watchRoom();
    });
  }

  private watchStarted(): void {
    const { ports, times, reports } = this.options;
    const [oldest] = this.unsaid.values();
    if (oldest === undefined || this.startedTimer !== undefined) return;
    const delayMs = Math.max(1, oldest.receivedAt + times.startedAfterMs - ports.now());
    this.startedTimer = ports.startTimer(delayMs, () => {
      this.startedTimer = undefined;
      for (const held of this.unsaid.values()) {
        if (ports.now() - held.receivedAt < times.startedAfterMs) break;
        this.unsaid.delete(held.task.lease);
        reports.started(held.task.lease);
      }
      this.watchStarted();
    });
  }
}

/** Whether handing the task back says it all: not when the handler says what comes next. */
function isGivingUp(ending: Ending): boolean {
  if (ending.kind === 'cancelled') return true;
  if (ending.kind !== 'failed') return false;
  return ending.retryable !== false && ending.retryAfterMs === undefined;
}
