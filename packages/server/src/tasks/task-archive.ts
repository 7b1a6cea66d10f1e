import { findTask, NO_SLOT, parseTaskId, queueKey } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, SluiceError } from '@sluice/protocol';
import { AnswerRoom } from '../answers/answer-room.ts';
import { badCursor, cursorText, type PageRequest, pageJson } from '../answers/pages.ts';
import { type ShownTask, shownJson } from '../answers/shown-task.ts';
import { isExecType } from '../base/exec-envelope.ts';
import type { Admission } from '../limits/admission.ts';
import { type Projection, ProjectionError } from '../projection/projection.ts';
import type { TaskEnd } from '../projection/projection-messages.ts';
import type { AttemptRecord } from '../projection/records/attempt-record.ts';
import type { ErrorGroups } from '../projection/rows/error-groups.ts';
import type { Readmission } from '../projection/rows/readmission.ts';
import { taskNotFound } from './read-task.ts';
import { readTasks, type TasksRead } from './read-tasks.ts';
import { type TaskFilter, timeOf } from './task-filter.ts';
import { shownTask } from './task-view.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly clock: () => number;
}

/**
 * Tasks from memory and the projection. They are in memory until some time after their end, then
 * only in the projection.
 */
export class TaskArchive {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** One task as JSON text, with all its attempts. */
  async one(namespace: string, id: string): Promise<string> {
    const { engine, admission } = this.parts;
    admission.read();
    const found = await engine.readShown((state, partition, shows) => {
      const slot = findTask(state, namespace, id);
      if (slot === NO_SLOT) return undefined;
      shows.task(slot);
      const task = shownTask(state, slot, partition.progressOf(slot));
      const hasEarlier = task.attempt > 1 || state.tasks.retriedAt[slot] !== 0;
      // What attempts used is not in memory.
      return { task, hasMore: hasEarlier || isExecType(task.type) };
    });
    if (found?.hasMore === false) return shownJson(found.task);
    if (found !== undefined) return shownJson(await this.withAttempts(namespace, found.task));
    const [stored] = (await this.stored(namespace, [id], new AnswerRoom())).items;
    if (stored === undefined) {
      await this.settled();
      throw taskNotFound(id);
    }
    return stored;
  }

  /** Throws when the task is in neither place. */
  async mustHave(namespace: string, id: string): Promise<void> {
    if ((await this.lookUp(namespace, [id])).items.length === 0) throw taskNotFound(id);
  }

  /** Memory has only the newest attempt, without what it used. */
  private async withAttempts(namespace: string, task: ShownTask): Promise<ShownTask> {
    const { position } = this.parts.engine;
    const question = { namespace, ids: [task.id], form: 'attempts', charactersMax: 0 } as const;
    const [json] = await this.ask((projection) => projection.read(question, position));
    const newest = task.attempts.at(-1)?.leasedAt ?? Number.POSITIVE_INFINITY;
    const stored = json === null ? [] : (JSON.parse(json) as AttemptRecord[]);
    const earlier = stored.filter(({ leasedAt }) => leasedAt < newest);
    const usage = stored.find(({ leasedAt }) => leasedAt === newest)?.usage;
    const latest = task.attempts.map((each) => (usage === undefined ? each : { ...each, usage }));
    return { ...task, attempts: [...earlier, ...latest] };
  }

  /** The states of those tasks that are in the projection, by id. */
  async ends(namespace: string, ids: readonly string[]): Promise<Map<string, TaskEnd>> {
    const known = ids.filter((id) => parseTaskId(id) !== undefined);
    if (known.length === 0) return new Map();
    const charactersMax = Number.MAX_SAFE_INTEGER;
    const question = { namespace, ids: known, form: 'end', charactersMax } as const;
    const jsons = await this.ask((projection) => projection.read(question, 0));
    return new Map(
      jsons.flatMap((json, place) => {
        return json === null ? [] : [[known[place], JSON.parse(json) as TaskEnd] as const];
      }),
    );
  }

  /** Many tasks as JSON text. */
  async many(namespace: string, ids: readonly string[]): Promise<string> {
    const { items, ...others } = await this.lookUp(namespace, ids);
    return `{"items":[${items.join(',')}],${JSON.stringify(others).slice(1)}`;
  }

  /** Every change of a task, or every try of its callbacks, as JSON text. */
  async past(namespace: string, id: string, form: 'history' | 'callbacks'): Promise<string> {
    const { engine, admission } = this.parts;
    admission.read();
    const question = { namespace, ids: [id], form, charactersMax: 0 } as const;
    const [json] = await this.ask((projection) => projection.read(question, engine.position));
    if (json === null) throw taskNotFound(id);
    return json;
  }

  /**
   * What is needed to run a task again that has left memory; undefined when the task is unknown.
   */
  async readmission(namespace: string, id: string): Promise<Readmission | undefined> {
    if (parseTaskId(id) === undefined) return undefined;
    const question = { namespace, ids: [id], form: 'readmission', charactersMax: 0 } as const;
    const [json] = await this.ask((projection) => projection.read(question, 0));
    return json === null ? undefined : (JSON.parse(json) as Readmission);
  }

  /** A page of matching tasks, newest first, as JSON text. */
  async list(
    namespace: string,
    filter: TaskFilter,
    { limit = LIMITS.pageDefault, cursor }: PageRequest,
  ): Promise<string> {
    const { engine, admission, projection, clock } = this.parts;
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parsePlace(cursor);
    admission.read();
    const { type, state, tags, parentId, text } = filter;
    const query = {
      namespace,
      before,
      from: 0,
      limit,
      ...(type === undefined ? {} : { queue: queueKey(namespace, type) }),
      ...(state === undefined ? {} : { state }),
      ...(tags === undefined ? {} : { tags }),
      ...(parentId === undefined ? {} : { parent: parentId }),
      ...(text === undefined ? {} : { text }),
    };
    const times = {
      since: timeOf(filter.since) ?? 0,
      until: timeOf(filter.until) ?? Number.POSITIVE_INFINITY,
    };
    const asked = engine.position;
    const charactersMax = new AnswerRoom().characters;
    const found = await this.ask(() => projection.find({ query, times, charactersMax }, asked));
    const now = clock();
    const { lagMs } = projection.status(asked, now);
    const next = found.isMore ? String(found.last) : undefined;
    return pageJson(found.items, next, { asOf: now - lagMs, lagMs });
  }

  /** Dead letters, grouped by error. */
  async errorGroups(namespace: string, type: string | undefined): Promise<ErrorGroups> {
    const { engine, admission } = this.parts;
    admission.read();
    const queue = type === undefined ? undefined : queueKey(namespace, type);
    return this.ask((projection) => projection.groups({ namespace, queue }, engine.position));
  }

  private async lookUp(namespace: string, ids: readonly string[]): Promise<TasksRead> {
    this.parts.admission.read();
    const room = new AnswerRoom();
    const { items, unknown, notIncluded } = await readTasks(
      this.parts.engine,
      namespace,
      ids,
      room,
    );
    const stored = await this.stored(namespace, unknown, room);
    if (stored.unknown.length > 0) await this.settled();
    return {
      items: [...items, ...stored.items],
      unknown: stored.unknown,
      notIncluded: [...notIncluded, ...stored.notIncluded],
    };
  }

  /**
   * A task left memory after its row was written. So a row may be shown at once, and that there is
   * none is known when everything is durable that memory has seen (L2).
   */
  private settled(): Promise<void> {
    return this.parts.engine.read(() => undefined);
  }

  /** Those of the tasks that have left memory. */
  async stored(
    namespace: string,
    ids: readonly string[],
    room: AnswerRoom,
    fresh = 0,
  ): Promise<TasksRead> {
    const known = ids.filter((id) => parseTaskId(id) !== undefined);
    const isAsked = known.length > 0 && !room.isFull;
    if (!isAsked) {
      const unknown = ids.filter((id) => !known.includes(id));
      return { items: [], unknown, notIncluded: known };
    }
    const { characters: charactersMax } = room;
    const question = { namespace, ids: known, form: 'task', charactersMax } as const;
    const jsons = await this.ask((projection) => projection.read(question, fresh));
    // The answer stops where there is no more room.
    const notIncluded = known.slice(jsons.length);
    const found = new Set(known.filter((_, index) => jsons[index] !== null));
    return {
      items: jsons.flatMap((json) => (json === null ? [] : room.take(json))),
      unknown: ids.filter((id) => !found.has(id)),
      notIncluded,
    };
  }

  /** A projection that does not answer must not stop the server; the caller gets an error. */
  private async ask<T>(question: (projection: Projection) => Promise<T>): Promise<T> {
    try {
      return await question(this.parts.projection);
    } catch (cause) {
      if (!(cause instanceof ProjectionError)) throw cause;
      const message = 'stored tasks cannot be read at the moment; try again';
      throw new SluiceError('unavailable', message, { cause, retryAfterMs: 1000 });
    }
  }
}

function parsePlace(cursor: string): number {
  const [number] = /^\d{1,15}$/.exec(cursorText(cursor)) ?? [];
  if (number === undefined) throw badCursor();
  return Number(number);
}
