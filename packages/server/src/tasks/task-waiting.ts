import { findTask, isTerminal, NO_SLOT, type ReadonlyState, type TaskNumber } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { KeyStreams } from '../access/key-streams.ts';
import { AnswerRoom } from '../answers/answer-room.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskArchive } from './task-archive.ts';
import { taskViewJson } from './task-view.ts';
import type { TaskWaiters } from './task-waiters.ts';

interface WaitingParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly waiters: TaskWaiters;
  readonly archive: TaskArchive;
  readonly keyStreams: KeyStreams;
}

/** Waits for tasks on behalf of the routes. */
export class TaskWaiting {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly waiters: TaskWaiters;
  private readonly archive: TaskArchive;
  private readonly keyStreams: KeyStreams;

  constructor({ engine, admission, waiters, archive, keyStreams }: WaitingParts) {
    this.keyStreams = keyStreams;
    this.engine = engine;
    this.admission = admission;
    this.waiters = waiters;
    this.archive = archive;
  }

  /** Refuses a request that would wait for this number of tasks, before it has any effect. */
  admit({ namespace }: Caller, tasks = 1): void {
    this.admission.read();
    this.waiters.admit(namespace, tasks);
  }

  /** Returns when the task has ended, or its current state at the timeout. */
  async wait(caller: Caller, id: string, timeoutMs: number, reply: FastifyReply): Promise<string> {
    const { namespace } = caller;
    const signal = endSignal(this.keyStreams, caller, reply);
    // `one` shows what has ended; that something has not ended shows only by the waiting itself.
    const waited = await this.engine.readShown((state) => {
      const slot = findTask(state, namespace, id);
      if (slot === NO_SLOT || isTerminal(state.tasks.state[slot])) return undefined;
      const task = state.tasks.number[slot] as TaskNumber;
      // Wrapped in an object: otherwise awaiting the read would also await the end of the task.
      return { views: this.waiters.waitForAny(namespace, [task], timeoutMs, signal) };
    });
    const [view] = (await waited?.views) ?? [];
    this.keyStreams.check(caller);
    return view ?? this.archive.one(namespace, id);
  }

  /**
   * Returns the ended tasks as soon as one has ended; an unknown id counts as ended. Tasks that do
   * not fit into the answer are in the next one: the client asks again.
   */
  async waitForAny(
    caller: Caller,
    ids: readonly string[],
    timeoutMs: number,
    reply: FastifyReply,
  ): Promise<string> {
    const { namespace } = caller;
    const signal = endSignal(this.keyStreams, caller, reply);
    const room = new AnswerRoom();
    const { ended, gone, views } = await this.engine.read((state) => {
      const sorted = sortOut(state, namespace, ids, room);
      const isOver = sorted.ended.length > 0 || sorted.gone.length > 0 || timeoutMs === 0;
      if (isOver) return { ...sorted, views: undefined };
      return {
        ...sorted,
        views: this.waiters.waitForAny(namespace, sorted.live, timeoutMs, signal),
      };
    });
    const stored = await this.archive.stored(namespace, gone, room);
    const items = [...ended, ...stored.items, ...(await this.ended(namespace, ids, views))];
    this.keyStreams.check(caller);
    return `{"items":[${items.join(',')}],"unknown":${JSON.stringify(stored.unknown)}}`;
  }

  /** The tasks that ended. Those that were too large to keep in memory are read now. */
  private async ended(
    namespace: string,
    ids: readonly string[],
    waited: Promise<readonly string[]> | undefined,
  ): Promise<readonly string[]> {
    if (waited === undefined) return [];
    const views = await waited;
    if (views.length > 0) return views;
    return this.engine.read((state) => sortOut(state, namespace, ids, new AnswerRoom()).ended);
  }
}

/** Given as the reason, because making one for each answer would cost as much as a JSON parse. */
const NOBODY_WAITS = new Error('nobody waits for the answer');

/** Aborts when the client disconnected or its key ended: then no answer is needed. */
export function endSignal(
  keyStreams: KeyStreams,
  caller: Caller,
  { raw }: FastifyReply,
): AbortSignal {
  const ended = new AbortController();
  const end = (): void => ended.abort(NOBODY_WAITS);
  raw.once('close', end);
  keyStreams.add(caller, { once: (event, told) => raw.once(event, told), destroy: end });
  return ended.signal;
}

function sortOut(
  state: ReadonlyState,
  namespace: string,
  ids: readonly string[],
  room: AnswerRoom,
) {
  const live: TaskNumber[] = [];
  const ended: string[] = [];
  // Not in memory: it ended long ago, or never existed.
  const gone: string[] = [];
  for (const id of new Set(ids)) {
    const slot = findTask(state, namespace, id);
    if (slot === NO_SLOT) gone.push(id);
    else if (isTerminal(state.tasks.state[slot])) {
      if (!room.isFull) ended.push(room.take(taskViewJson(state, slot)));
    } else live.push(state.tasks.number[slot] as TaskNumber);
  }
  return { live, ended, gone };
}
