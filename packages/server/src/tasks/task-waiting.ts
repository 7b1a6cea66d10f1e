import {
  DEFAULT_NAMESPACE,
  findTask,
  isTerminal,
  NO_SLOT,
  type ReadonlyState,
  type TaskNumber,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { FastifyReply } from 'fastify';
import type { Admission } from '../admission.ts';
import { readTask } from './read-task.ts';
import { taskViewJson } from './task-view.ts';
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

  /** Refuses a request that will wait for so many tasks, before it has any effect. */
  admit(tasks = 1): void {
    this.admission.read();
    this.waiters.admit(tasks);
  }

  /** Answers when the task ended, or with its current state when the time is up. */
  async wait(id: string, timeoutMs: number, reply: FastifyReply): Promise<string> {
    const signal = goneSignal(reply);
    const waited = await this.engine.read((state) => {
      const slot = findTask(state, DEFAULT_NAMESPACE, id);
      if (slot === NO_SLOT || isTerminal(state.tasks.state[slot])) return undefined;
      const task = state.tasks.number[slot] as TaskNumber;
      // Wrapped, or awaiting the read would await the task's end too.
      return { views: this.waiters.waitForAny([task], timeoutMs, signal) };
    });
    const [view] = (await waited?.views) ?? [];
    return view ?? readTask(this.engine, id);
  }

  /** Answers with those that ended as soon as one did; an id that nobody knows counts as one. */
  async waitForAny(
    ids: readonly string[],
    timeoutMs: number,
    reply: FastifyReply,
  ): Promise<string> {
    const signal = goneSignal(reply);
    const { ended, unknown, views } = await this.engine.read((state) => {
      const sorted = sortOut(state, ids);
      const isOver = sorted.ended.length > 0 || sorted.unknown.length > 0 || timeoutMs === 0;
      if (isOver) return { ...sorted, views: undefined };
      return { ...sorted, views: this.waiters.waitForAny(sorted.live, timeoutMs, signal) };
    });
    const items = [...ended, ...((await views) ?? [])];
    return `{"items":[${items.join(',')}],"unknown":${JSON.stringify(unknown)}}`;
  }
}

/** Fires when whoever waits for the answer is gone. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

function sortOut(state: ReadonlyState, ids: readonly string[]) {
  const live: TaskNumber[] = [];
  const ended: string[] = [];
  const unknown: string[] = [];
  for (const id of new Set(ids)) {
    const slot = findTask(state, DEFAULT_NAMESPACE, id);
    if (slot === NO_SLOT) unknown.push(id);
    else if (isTerminal(state.tasks.state[slot])) ended.push(taskViewJson(state, slot));
    else live.push(state.tasks.number[slot] as TaskNumber);
  }
  return { live, ended, unknown };
}
