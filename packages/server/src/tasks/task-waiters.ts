import type { ReadonlyState, Slot, TaskNumber } from '@sluice/core';
import { overloaded } from '../admission.ts';
import { taskViewJson } from './task-view.ts';

type Waiter = (viewJson: string | undefined) => void;

const WAITERS_MAX = 10_000;

/** Requests that wait for tasks to end. */
export class TaskWaiters {
  private readonly waiters = new Map<TaskNumber, Set<Waiter>>();
  private count = 0;

  /** Refuses a request that will wait, before it has any effect. */
  admit(): void {
    if (this.count >= WAITERS_MAX) throw overloaded('too many requests wait for tasks');
  }

  /**
   * Answers the task's view when it ended, or `undefined` when the time is up or `signal` fires.
   * It must be called in the turn in which the task was seen alive.
   */
  wait(task: TaskNumber, timeoutMs: number, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const finish = (viewJson: string | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.remove(task, finish);
        resolve(viewJson);
      };
      const giveUp = (): void => finish(undefined);
      const timer = setTimeout(giveUp, timeoutMs);
      signal.addEventListener('abort', giveUp);
      this.add(task, finish);
    });
  }

  /** Renders what the waiters of these tasks get; the answer lets it out. */
  stage(state: ReadonlyState, ended: readonly Slot[]): (() => void)[] {
    if (this.count === 0) return [];
    const releases: (() => void)[] = [];
    for (const slot of ended) {
      const waiters = this.waiters.get(state.tasks.number[slot] as TaskNumber);
      if (waiters === undefined) continue;
      const viewJson = taskViewJson(state, slot);
      releases.push(() => {
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

  private add(task: TaskNumber, waiter: Waiter): void {
    const known = this.waiters.get(task);
    if (known === undefined) this.waiters.set(task, new Set([waiter]));
    else known.add(waiter);
    this.count += 1;
  }

  private remove(task: TaskNumber, waiter: Waiter): void {
    const known = this.waiters.get(task);
    if (known?.delete(waiter)) this.count -= 1;
    if (known?.size === 0) this.waiters.delete(task);
  }
}
