import type { ReadonlyState, Slot, TaskNumber } from '@sluice/core';
import { AnswerRoom } from '../answers/answer-room.ts';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { taskViewJson } from './task-view.ts';

/** Takes the view of a task that ended; nothing when it is too much, or waiting is over. */
type Waiter = (viewJson: string | undefined) => void;

const REQUESTS_MAX = 10_000;

/** Of a task and a request that waits for it. */
const PAIRS_MAX = 500_000;

/** Of tasks that ended and wait for the disk, as text; others are read when they are asked for. */
const STAGED_CHARACTERS_MAX = 64 * 1024 * 1024;

interface WaiterOptions {
  /** Requests of one namespace. */
  readonly waitsMax?: number;
  readonly stagedMax?: number;
}

/** Requests that wait for tasks to end. */
export class TaskWaiters {
  private readonly waiters = new Map<TaskNumber, Set<Waiter>>();
  private requests = 0;
  private pairs = 0;
  /** How many of the requests each namespace has. */
  private readonly requestsOf = new Map<string, number>();
  private readonly options: WaiterOptions;
  /** Characters that were rendered and not let out. */
  private staged = 0;

  constructor(options: WaiterOptions = {}) {
    this.options = options;
  }

  /** Refuses a request that will wait for that number of tasks, before it has any effect. */
  admit(namespace: string, tasks = 1): void {
    const { waitsMax } = this;
    if (this.waitsOf(namespace) >= waitsMax) throw quotaExceeded('waitsMax', waitsMax);
    if (this.requests >= REQUESTS_MAX || this.pairs + tasks > PAIRS_MAX) {
      throw overloaded('too many requests wait for tasks');
    }
  }

  /**
   * Answers the views of those that ended together first, as far as there is room; of none when
   * the time is up or `signal` fires. It must be called in the turn in which the tasks were seen
   * alive.
   */
  waitForAny(
    namespace: string,
    tasks: readonly TaskNumber[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    return new Promise((resolve) => {
      const ended: string[] = [];
      const room = new AnswerRoom();
      const waiter: Waiter = (viewJson) => {
        // Others may end in the same commit: all of them are let out in this turn.
        if (ended.length === 0) queueMicrotask(finish);
        if (viewJson !== undefined && !room.isFull) ended.push(room.take(viewJson));
      };
      const giveUp = (): void => waiter(undefined);
      const timer = setTimeout(giveUp, timeoutMs);
      const finish = (): void => {
        if (!this.remove(tasks, waiter)) return;
        this.count(namespace, -1);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(ended);
      };
      signal.addEventListener('abort', giveUp);
      this.add(tasks, waiter);
      this.count(namespace, 1);
      if (signal.aborted) giveUp();
    });
  }

  /** Renders what the waiters of these tasks get; the answer lets it out. */
  stage(state: ReadonlyState, ended: readonly Slot[]): (() => void)[] {
    if (this.pairs === 0) return [];
    const releases: (() => void)[] = [];
    const { stagedMax = STAGED_CHARACTERS_MAX } = this.options;
    for (const slot of ended) {
      const waiters = this.waiters.get(state.tasks.number[slot] as TaskNumber);
      if (waiters === undefined) continue;
      const viewJson = this.staged < stagedMax ? taskViewJson(state, slot) : undefined;
      const characters = viewJson?.length ?? 0;
      this.staged += characters;
      releases.push(() => {
        this.staged -= characters;
        for (const waiter of [...waiters]) waiter(viewJson);
      });
    }
    return releases;
  }

  /** Nobody waits any longer: the server is going away. */
  giveUp(): void {
    for (const waiters of [...this.waiters.values()]) {
      for (const waiter of [...waiters]) waiter(undefined);
    }
  }

  /** Requests that one namespace may have waiting. */
  get waitsMax(): number {
    return this.options.waitsMax ?? REQUESTS_MAX;
  }

  /** Requests of one namespace that wait. */
  waitsOf(namespace: string): number {
    return this.requestsOf.get(namespace) ?? 0;
  }

  private count(namespace: string, change: number): void {
    const count = this.waitsOf(namespace) + change;
    if (count === 0) this.requestsOf.delete(namespace);
    else this.requestsOf.set(namespace, count);
  }

  private add(tasks: readonly TaskNumber[], waiter: Waiter): void {
    for (const task of tasks) {
      const known = this.waiters.get(task);
      if (known === undefined) this.waiters.set(task, new Set([waiter]));
      else known.add(waiter);
    }
    this.requests += 1;
    this.pairs += tasks.length;
  }

  /** Answers whether it was there. */
  private remove(tasks: readonly TaskNumber[], waiter: Waiter): boolean {
    let wasThere = false;
    for (const task of tasks) {
      const known = this.waiters.get(task);
      if (known?.delete(waiter)) wasThere = true;
      if (known?.size === 0) this.waiters.delete(task);
    }
    if (!wasThere) return false;
    this.requests -= 1;
    this.pairs -= tasks.length;
    return true;
  }
}
