import { setTimeout as sleep } from 'node:timers/promises';
import { wallClockMs } from '../path/connection.ts';
import { tasksFrom } from './client-role.ts';
import type { BenchTask, Contender, PeerWorker } from './contender.ts';
import { Numbers } from './numbers.ts';

export interface Start {
  readonly n: number;
  readonly at: number;
  readonly isUrgent: boolean;
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The workers of one contender, in a separate process. They count and time what they run. */
export class WorkerRole {
  private readonly contender: Contender;
  private readonly address: string;
  private readonly queue: string;
  private worker: PeerWorker | undefined;
  /** For every handler that started: which task, when, and whether it was urgent. */
  private readonly startedTasks = new Numbers();
  private readonly startedAt = new Numbers();
  private readonly areUrgent = new Numbers();
  private readonly latenciesMs = new Numbers();
  private finished = 0;
  private lastFinishedAt = 0;
  private awaited = Number.POSITIVE_INFINITY;
  private arrived: (at: number) => void = () => undefined;

  constructor(contender: Contender, address: string, queue: string) {
    this.contender = contender;
    this.address = address;
    this.queue = queue;
  }

  /** Returns the start time. Connecting counts as a part of the work. */
  async work({
    slots,
    workers = 1,
    handlerMs = 0,
    cronTasks = 0,
  }: {
    slots: number;
    workers?: number;
    handlerMs?: number;
    /** Number of tasks of every minute, see `WorkOptions.crontab`. */
    cronTasks?: number;
  }): Promise<number> {
    const startedAt = wallClockMs();
    const handle = (task: BenchTask): Promise<void> | undefined => {
      this.started(task);
      if (handlerMs === 0) {
        this.ended();
        return undefined;
      }
      return sleep(handlerMs).then(() => this.ended());
    };
    const options = { slots, workers, handle, crontab: tasksFrom(0, cronTasks) };
    this.worker = await this.contender.openWorker(this.address, this.queue, options);
    return startedAt;
  }

  /** When `count` handlers had ended since the start; undefined when the time is up earlier. */
  async until({
    count,
    withinMs,
  }: {
    count: number;
    withinMs: number;
  }): Promise<number | undefined> {
    if (this.finished >= count) return this.lastFinishedAt;
    this.awaited = count;
    const timeout = new AbortController();
    const arrived = new Promise<number>((resolve) => {
      this.arrived = resolve;
    });
    const late = sleep(withinMs, undefined, { signal: timeout.signal }).catch(() => undefined);
    const at = await Promise.race([arrived, late]);
    timeout.abort();
    return at;
  }

  /** Discards the times measured so far. */
  forget(): void {
    this.latenciesMs.clear();
  }

  latencies(): Latencies {
    const sorted = this.latenciesMs.sorted();
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)];
    return { p50Ms: at(0.5), p99Ms: at(0.99) };
  }

  /** In the order in which handlers started. */
  allStarts(): readonly Start[] {
    return Array.from({ length: this.startedTasks.length }, (_, place) => ({
      n: this.startedTasks.at(place),
      at: this.startedAt.at(place),
      isUrgent: this.areUrgent.at(place) === 1,
    }));
  }

  async close(): Promise<void> {
    await this.worker?.close();
  }

  private started({ n, at, isUrgent = false }: BenchTask): void {
    const now = wallClockMs();
    this.startedTasks.push(n);
    this.startedAt.push(now);
    this.areUrgent.push(isUrgent ? 1 : 0);
    this.latenciesMs.push(now - at);
  }

  private ended(): void {
    this.finished += 1;
    this.lastFinishedAt = wallClockMs();
    if (this.finished === this.awaited) this.arrived(this.lastFinishedAt);
  }
}
