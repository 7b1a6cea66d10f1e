import { parseTaskId, queueKey } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, SluiceError } from '@sluice/protocol';
import type { Admission } from '../admission.ts';
import type { ErrorGroups } from '../projection/error-groups.ts';
import { type Projection, ProjectionError } from '../projection/projection.ts';
import type { Readmission } from '../projection/readmission.ts';
import { AnswerRoom } from './answer-room.ts';
import { badCursor, cursorText, type PageRequest, pageJson } from './pages.ts';
import { taskNotFound } from './read-task.ts';
import { readTasks, type TasksRead } from './read-tasks.ts';
import { type TaskFilter, timeOf } from './task-filter.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly clock: () => number;
}

/** Tasks wherever they are: in memory while they live and for a while after, then in files. */
export class TaskArchive {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** One task as JSON text, with all its attempts. */
  async one(namespace: string, id: string): Promise<string> {
    const { items } = await this.lookUp(namespace, [id]);
    if (items.length === 0) throw taskNotFound(id);
    return LATER_ATTEMPT.test(items[0]) ? this.withAttempts(namespace, id, items[0]) : items[0];
  }

  /** Refuses a task that is nowhere. */
  async mustHave(namespace: string, id: string): Promise<void> {
    if ((await this.lookUp(namespace, [id])).items.length === 0) throw taskNotFound(id);
  }

  /** Memory has the newest attempt alone. */
  private async withAttempts(namespace: string, id: string, json: string): Promise<string> {
    const { position } = this.parts.engine;
    const [stored] = (await this.stored(namespace, [id], new AnswerRoom(), position)).items;
    if (stored === undefined) return json;
    const task = JSON.parse(json) as Attempted;
    const newest = task.attempts.at(-1)?.leasedAt ?? '9999';
    const { attempts } = JSON.parse(stored) as Attempted;
    const earlier = attempts.filter(({ leasedAt }) => leasedAt < newest);
    return JSON.stringify({ ...task, attempts: [...earlier, ...task.attempts] });
  }

  /** Many tasks as JSON text. */
  async many(namespace: string, ids: readonly string[]): Promise<string> {
    const { items, ...others } = await this.lookUp(namespace, ids);
    return `{"items":[${items.join(',')}],${JSON.stringify(others).slice(1)}`;
  }

  /** Every change of a task, or every try to call back because of one, as JSON text. */
  async past(namespace: string, id: string, form: 'history' | 'callbacks'): Promise<string> {
    const { engine, admission } = this.parts;
    admission.read();
    const question = { namespace, ids: [id], form, charactersMax: 0 } as const;
    const [json] = await this.ask((projection) => projection.read(question, engine.position));
    if (json === null) throw taskNotFound(id);
    return json;
  }

  /** What it takes to run a task again that has left memory; nothing when nobody knows it. */
  async readmission(namespace: string, id: string): Promise<Readmission | undefined> {
    if (parseTaskId(id) === undefined) return undefined;
    const question = { namespace, ids: [id], form: 'readmission', charactersMax: 0 } as const;
    const [json] = await this.ask((projection) => projection.read(question, 0));
    return json === null ? undefined : (JSON.parse(json) as Readmission);
  }

  /** A page of the tasks that are meant, newest first, as JSON text. */
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

  /** Dead letters, counted by what went wrong. */
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
    return {
      items: [...items, ...stored.items],
      unknown: stored.unknown,
      notIncluded: [...notIncluded, ...stored.notIncluded],
    };
  }

  /** Those that have left memory. */
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
    // It stops where there is no more room.
    const notIncluded = known.slice(jsons.length);
    const found = new Set(known.filter((_, index) => jsons[index] !== null));
    return {
      items: jsons.flatMap((json) => (json === null ? [] : room.take(json))),
      unknown: ids.filter((id) => !found.has(id)),
      notIncluded,
    };
  }

  /** A projection that does not answer is no reason to stop; whoever asked it hears of it. */
  private async ask<T>(question: (projection: Projection) => Promise<T>): Promise<T> {
    try {
      return await question(this.parts.projection);
    } catch (cause) {
      if (!(cause instanceof ProjectionError)) throw cause;
      const message = 'what is kept of tasks cannot be read now; try again';
      throw new SluiceError('unavailable', message, { cause, retryAfterMs: 1000 });
    }
  }
}

/** In a task as JSON text whose newest attempt is not its first. */
const LATER_ATTEMPT = /"attempt":(?:[2-9]|\d\d+),"attempts":/;

interface Attempted {
  readonly attempts: readonly { readonly leasedAt: string }[];
}

function parsePlace(cursor: string): number {
  const [number] = /^\d{1,15}$/.exec(cursorText(cursor)) ?? [];
  if (number === undefined) throw badCursor();
  return Number(number);
}
