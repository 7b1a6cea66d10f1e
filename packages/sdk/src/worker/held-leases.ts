import type { CancelNotice, Capacity, PushedTask, SignalNotice } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import type { Cancel } from '../base/ports.ts';
import { RenewedMap } from '../base/renewed-map.ts';
import { type Ending, type FinalReport, finalReport } from './final-reports.ts';
import type { AbortReason, WorkerPorts } from './worker-ports.ts';
import { type Needs, needsOf, type WorkerRoom } from './worker-room.ts';

export interface LeaseTimes {
  /**
   * A push that does not fit waits this long for room, and is then refused. An immediate refusal
   * would bring the next push at once, as long as the server believes that there is room.
   */
  readonly roomWaitMs: number;
  /** A handler that runs longer than this is reported as started. */
  readonly startedAfterMs: number;
}

/** A longer timeout is left to the server: most platforms fire a longer timer immediately. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Maximum number of signal keys remembered, the newest. A client resends a signal within a minute.
 */
const SIGNAL_KEYS_MAX = 1000;

/**
 * After a handler that took this long, a separate request costs little. Slots that got their tasks
 * together end together, so the next urgent task would have to wait for all of them. So the first
 * report leaves alone, and its slot is a little ahead of the others from then on.
 */
const LONG_MS = 5;

/** Receives the reports on leases. */
interface LeaseReports {
  started(lease: string): void;
  /** `isUrgent`: it should not wait for others that end in the same turn. */
  finish(report: FinalReport, isUrgent: boolean): void;
  /** No more reports on this lease are needed. */
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
   * `waiting` for room, `running`, `ended` with a final report that was not answered yet, or
   * `let_go` without one.
   */
  phase: 'waiting' | 'running' | 'ended' | 'let_go';
  /** Wall time of the start; 0 before it runs. */
  startedAt: number;
  /** The same on the clock of timers; infinite before it runs. */
  beganAt: number;
  isAborted: boolean;
  /** Keys of the signals that it received, oldest first; undefined before the first. */
  signalKeys: Set<string> | undefined;
  /** Cancels its run timeout, if it has one. */
  cancelTimeout: Cancel | undefined;
}

/**
 * The server tells the worker when the time of an attempt is over. Only if nothing is heard for
 * this long after that, the worker stops the handler by itself. If it did so at once, the error of
 * the handler could reach the server before the time is over there, and would count as a failure.
 */
const OWN_TIMEOUT_MS = 1000;

/**
 * The leases that a worker holds, and the handlers that run under them.
 *
 * leases.held-until-end: A lease is held from its push until its final report is answered or the
 *   server says that it is lost. A resume of the session lists exactly the held leases.
 * leases.one-handler: A lease starts at most one handler, however often it is pushed.
 * leases.lost-is-aborted: A lease that is lost before its handler ended is forgotten: the handler
 *   is aborted, and its further reports are dropped. A lease with a final report stays until that
 *   is answered, because the report may be what ended the lease: then the answer is `duplicate`.
 * leases.room-until-end: A handler uses room until it ends, with or without a lease.
 */
export class HeldLeases {
  private readonly options: HeldLeasesOptions;
  private readonly held = new RenewedMap<string, Held>();
  /** Resources of handlers that still run after their leases were lost. */
  private readonly strays = new Map<string, Needs>();
  /** Pushes that wait for room, oldest first. */
  private readonly waiting = new Set<Held>();
  /** Running handlers that were not reported as started, oldest first. */
  private readonly unsaid = new RenewedMap<string, Held>();
  private roomTimer: Cancel | undefined;
  private startedTimer: Cancel | undefined;
  private isStopping = false;
  /** Tasks that still run will be handed back. */
  private isLettingGo = false;
  /** Number of handlers and waiting pushes, without strays. */
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

  /** A task was pushed: runs it, lets it wait for room, or refuses it. */
  take(task: PushedTask): void {
    const { lease } = task;
    if (this.held.has(lease) || this.strays.has(lease)) return;
    const held = this.hold(task);
    if (this.isStopping) {
      this.end(held, { kind: 'refused' });
    } else if (this.options.room.fits(held.needs)) {
      this.run(held);
    } else {
      this.waiting.add(held);
      this.watchRoom();
    }
  }

  /** Goes on with a task that an earlier process took. It runs already, whether it fits or not. */
  adopt(task: PushedTask): void {
    this.run(this.hold(task));
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

  /** Passes a signal to the handler. A repeated signal is passed once. */
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

  /** The server says that the lease is no longer this worker's (leases.lost-is-aborted). */
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

  /** From now on every push is refused, including those that wait. */
  refuseAll(): void {
    this.isStopping = true;
    for (const held of this.waiting) this.end(held, { kind: 'refused' });
    this.waiting.clear();
  }

  /** Stops waiting for the running handlers: their tasks will be handed back. */
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

  private hold(task: PushedTask): Held {
    const held: Held = {
      task,
      needs: needsOf(task),
      receivedAt: this.options.ports.now(),
      phase: 'waiting',
      startedAt: 0,
      beganAt: Number.POSITIVE_INFINITY,
      isAborted: false,
      signalKeys: undefined,
      cancelTimeout: undefined,
    };
    this.held.set(task.lease, held);
    this.active += 1;
    return held;
  }

  private run(held: Held): void {
    const { ports, room } = this.options;
    const { task } = held;
    held.phase = 'running';
    held.startedAt = Math.floor(ports.wallTime());
    held.beganAt = ports.now();
    room.take(held.needs);
    this.unsaid.set(task.lease, held);
    this.watchStarted();
    const runMs = task.runTimeoutMs ?? Number.POSITIVE_INFINITY;
    if (runMs + OWN_TIMEOUT_MS <= TIMER_MS_MAX) {
      const leftMs = Math.max(0, held.receivedAt + runMs + OWN_TIMEOUT_MS - ports.now());
      held.cancelTimeout = ports.startTimer(leftMs, () => {
        // The server's grace began when the time was over.
        const graceMs = LIMITS.graceMsDefault - OWN_TIMEOUT_MS;
        this.abort(held, { type: 'timed_out', graceMs, reason: 'run_timeout' });
      });
    }
    ports.run(task);
  }

  private end(held: Held, ending: Ending): void {
    held.phase = 'ended';
    this.settleDown(held);
    const isLong = this.options.ports.now() - held.beganAt >= LONG_MS;
    this.options.reports.finish(finalReport(held.task.lease, ending, held.startedAt), isLong);
  }

  /** The task will be handed back, so no report is needed. Until then the lease is still held. */
  private endSilently(held: Held): void {
    held.phase = 'let_go';
    this.settleDown(held);
    this.options.reports.drop(held.task.lease);
  }

  /** Stops its timers and no longer counts it as active. */
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

  /** Room became free: the push that waited longest and fits runs first. */
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

/**
 * Whether handing the task back is enough. It is not when the handler decided what happens next.
 */
function isGivingUp(ending: Ending): boolean {
  if (ending.kind === 'cancelled') return true;
  if (ending.kind !== 'failed') return false;
  return ending.retryable !== false && ending.retryAfterMs === undefined;
}
