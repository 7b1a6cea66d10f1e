import type { ReadonlyState, Slot, TaskNumber } from '@sluice/core';
import { AnswerRoom } from '../answers/answer-room.ts';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { taskViewJson } from './task-view.ts';

/** Gets the view of a task that ended; undefined when it is too large, or the wait is over. */
type Waiter = (viewJson: string | undefined) => void;

const REQUESTS_MAX = 10_000;

/** Maximum number of pairs of a task and a request that waits for it. */
const PAIRS_MAX = 500_000;

/** Maximum text of ended tasks that wait for the disk; further ones are read later, on demand. */
const STAGED_CHARACTERS_MAX = 64 * 1024 * 1024;

interface WaiterOptions {
  /** Maximum number of waiting requests of one namespace. */
  readonly waitsMax?: number;
  readonly stagedMax?: number;
}

/** How ended tasks or runs are told apart and shown. */
interface Ended {
  readonly numberOf: (slot: Slot) => number;
  readonly render: (slot: Slot) => string;
}

/** Requests that wait for tasks or runs to end. */
export class TaskWaiters {
  private readonly waiters = new Map<TaskNumber, Set<Waiter>>();
  private requests = 0;
  private pairs = 0;
  /** Number of waiting requests, by namespace. */
  private readonly requestsOf = new Map<string, number>();
  private readonly options: WaiterOptions;
  /** Characters that were rendered and not released yet. */
  private staged = 0;

  constructor(options: WaiterOptions = {}) {
    this.options = options;
  }

  /** Refuses a request that would wait for this number of tasks, before it has any effect. */
  admit(namespace: string, tasks = 1): void {
    const { waitsMax } = this;
    if (this.waitsOf(namespace) >= waitsMax) throw quotaExceeded('waitsMax', waitsMax);
    if (this.requests >= REQUESTS_MAX || this.pairs + tasks > PAIRS_MAX) {
      throw overloaded('too many requests wait for tasks');
    }
  }

  /**
   * Returns the views of the tasks that end first in the same commit, as far as there is room.
   * Returns none at the timeout or when `signal` aborts. It must be called in the turn in which the
   * tasks were seen open.
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
        // Other tasks may end in the same commit: all of them are released in this turn.
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

  /** Renders the views for the waiters of these tasks. The returned functions release them. */
  stage(state: ReadonlyState, ended: readonly Slot[]): (() => void)[] {
    return this.stageEach(ended, {
      numberOf: (slot) => state.tasks.number[slot],
      render: (slot) => taskViewJson(state, slot),
    });
  }

  /** The same for anything with a number of that sequence: runs have such numbers, too. */
  stageEach(ended: readonly Slot[], { numberOf, render }: Ended): (() => void)[] {
    if (this.pairs === 0) return [];
    const releases: (() => void)[] = [];
    const { stagedMax = STAGED_CHARACTERS_MAX } = this.options;
    for (const slot of ended) {
      const waiters = this.waiters.get(numberOf(slot) as TaskNumber);
      if (waiters === undefined) continue;
      const viewJson = this.staged < stagedMax ? render(slot) : undefined;
      const characters = viewJson?.length ?? 0;
      this.staged += characters;
      releases.push(() => {
        this.staged -= characters;
        for (const waiter of [...waiters]) waiter(viewJson);
      });
    }
    return releases;
  }

  /** Ends all waits, because the server is stopping. */
  giveUp(): void {
    for (const waiters of [...this.waiters.values()]) {
      for (const waiter of [...waiters]) waiter(undefined);
    }
  }

  /** Maximum number of waiting requests of one namespace. */
  get waitsMax(): number {
    return this.options.waitsMax ?? REQUESTS_MAX;
  }

  /** Number of waiting requests of a namespace. */
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

  /** Returns whether it was there. */
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
