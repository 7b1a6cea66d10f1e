import { DEFAULT_NAMESPACE, findTask, isTerminal, NO_SLOT, type TaskNumber } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { FastifyReply } from 'fastify';
import type { Admission } from '../admission.ts';
import { readTask } from './read-task.ts';
import type { TaskWaiters } from './task-waiters.ts';

/** Waits for tasks, for the routes that do. */
export class TaskWaiting {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly waiters: TaskWaiters;

  constructor(engine: Engine, admission: Admission, waiters: TaskWaiters) {
    this.engine = engine;
    this.admission = admission;
    this.waiters = waiters;
  }

  /** Refuses a request that will wait, before it has any effect. */
  admit(): void {
    this.admission.read();
    this.waiters.admit();
  }

  /** Answers when the task ended, or with its current state when the time is up. */
  async wait(id: string, timeoutMs: number, reply: FastifyReply): Promise<string> {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const ended = await this.engine.read((state) => {
      const slot = findTask(state, DEFAULT_NAMESPACE, id);
      if (slot === NO_SLOT || isTerminal(state.tasks.state[slot])) return undefined;
      const task = state.tasks.number[slot] as TaskNumber;
      // Wrapped, or awaiting the read would await the task's end too.
      return { view: this.waiters.wait(task, timeoutMs, gone.signal) };
    });
    return (await ended?.view) ?? readTask(this.engine, id);
  }
}
