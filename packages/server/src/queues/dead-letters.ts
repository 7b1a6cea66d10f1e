import {
  type Author,
  type DiscardDeadLetters,
  type DiscardDeadLettersReply,
  type EndRedrive,
  NO_SLOT,
  queueKey,
  type ReadonlyState,
  type Slot,
  type StartRedrive,
  type StartRedriveReply,
  taskTypeOf,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, SluiceError } from '@sluice/protocol';
import { AnswerRoom } from '../answers/answer-room.ts';
import { badCursor, cursorText, type PageRequest, pageJson, placedPage } from '../answers/pages.ts';
import { timeText } from '../base/time-text.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import { fingerprintOfEnd } from '../projection/rows/error-groups.ts';
import { payloadText, taskViewJson } from '../tasks/task-view.ts';

const ID_PREFIX = 'd_';
const RATE_DEFAULT = 100;

/** Selects dead letters. */
export interface DeadLetterScope {
  readonly namespace: string;
  /** All types without it. */
  readonly taskType?: string;
  /** All kinds of errors without it. */
  readonly fingerprint?: string;
}

/** An operation on dead letters by an author. A dry run only counts them. */
export interface DeadLetterOrder extends DeadLetterScope {
  readonly by: Author;
  readonly dryRun: boolean;
}

/** Operations on failed and timed-out tasks that wait for a decision. */
export class DeadLetterOperations {
  private readonly engine: Engine;
  private readonly admission: Admission;

  constructor(engine: Engine, admission: Admission) {
    this.engine = engine;
    this.admission = admission;
  }

  /** A page, earliest end first, as JSON text. */
  list(
    scope: DeadLetterScope,
    { limit = LIMITS.pageDefault, cursor }: PageRequest,
  ): Promise<string> {
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    this.admission.read();
    return this.engine.read((state) => {
      const items: string[] = [];
      const room = new AnswerRoom();
      const looked = lookThrough(state, scope, after, (slot) => {
        items.push(room.take(taskViewJson(state, slot)));
        return items.length === limit || room.isFull;
      });
      const { last, isMore } = looked;
      const next = isMore && last !== undefined ? `${last.endedAt}.${last.number}` : undefined;
      return pageJson(items, next, { asOf: state.now, lagMs: 0 });
    });
  }

  async redrive(order: DeadLetterOrder, rate?: number): Promise<object> {
    const { by, dryRun, fingerprint, ...scope } = order;
    if (dryRun) return { id: null, count: await this.count(order), dryRun };
    const type = 'start_redrive';
    const start = (command: Omit<StartRedrive, 'type' | 'now'>) => {
      this.admission.command(type);
      return this.engine.execute<StartRedrive, StartRedriveReply>(
        { type, ...command },
        (reply) => reply,
      );
    };
    const ratePerSec = rate ?? RATE_DEFAULT;
    if (fingerprint !== undefined) {
      let before = 0;
      const count = await this.forEachPart(order, async (tasks, author) => {
        // Without a rate none of them waits.
        const pace = rate === undefined ? {} : { firstAfterMs: (before * 1000) / rate };
        const begun = await start({ ratePerSec, ...scope, ...author, tasks, ...pace });
        before += begun.count;
        return begun.count;
      });
      return { id: null, count, dryRun };
    }
    const { rejection, redrive, count } = await start({ ratePerSec, ...scope, by });
    if (rejection !== undefined) throw overloaded('too many redrives are running');
    return { id: `${ID_PREFIX}${redrive}`, count, dryRun };
  }

  /** A page of the redrives under way, oldest first, as JSON text. */
  redrives(namespace: string, page: PageRequest): Promise<string> {
    this.admission.read();
    return this.engine.read(({ redrives, now }) => {
      const own = [...redrives.entries()]
        .filter(([, redrive]) => redrive.namespace === namespace)
        .map(([number, redrive]) => ({ number, redrive, place: `${number}`.padStart(16, '0') }));
      return placedPage(own, page, { show: redriveView, now });
    });
  }

  endRedrive(namespace: string, id: string, by: Author): Promise<void> {
    const type = 'end_redrive';
    const [, number] = /^d_(\d{1,15})$/.exec(id) ?? [];
    this.admission.command(type);
    const command = { type, namespace, redrive: Number(number ?? 0), by } as const;
    return this.engine.execute<EndRedrive, void>(command, ({ found }) => {
      if (!found) throw new SluiceError('redrive_not_found', `no redrive '${id}' is running`);
    });
  }

  async discard(order: DeadLetterOrder): Promise<object> {
    const { by, dryRun, fingerprint, ...scope } = order;
    if (dryRun) return { matched: await this.count(order), discarded: 0, dryRun };
    const type = 'discard_dead_letters';
    const discard = (command: Omit<DiscardDeadLetters, 'type' | 'now'>) => {
      this.admission.command(type);
      return this.engine.execute<DiscardDeadLetters, DiscardDeadLettersReply>(
        { type, ...command },
        (reply) => reply,
      );
    };
    let sum = 0;
    if (fingerprint !== undefined) {
      sum = await this.forEachPart(order, async (tasks, author) => {
        return (await discard({ ...scope, ...author, tasks })).discarded;
      });
      return { matched: sum, discarded: sum, dryRun };
    }
    for (let isMore = true, author: { by?: Author } = { by }; isMore; author = {}) {
      // It is one change in the audit record, however many commands it takes.
      const { discarded, more } = await discard({ ...scope, ...author });
      sum += discarded;
      isMore = more;
    }
    return { matched: sum, discarded: sum, dryRun };
  }

  private async count(order: DeadLetterOrder): Promise<number> {
    this.admission.read();
    return this.forEachPart(order, async (tasks) => tasks.length);
  }

  /**
   * Calls `act` with the numbers of matching tasks, one part at a time, so that other work can run.
   * Tasks that die meanwhile are not included. Returns the sum of the results of `act`.
   */
  private async forEachPart(
    { by, ...scope }: DeadLetterOrder,
    act: (tasks: readonly number[], author: { readonly by?: Author }) => Promise<number>,
  ): Promise<number> {
    let sum = 0;
    let author: { readonly by?: Author } = { by };
    const until = await this.engine.read(({ now }) => now);
    for (let after: Place | undefined, isMore = true; isMore; ) {
      const from = after;
      const tasks: number[] = [];
      const looked = await this.engine.read((state) =>
        lookThrough(state, scope, from, (slot) => {
          if (state.tasks.endedAt[slot] <= until) tasks.push(state.tasks.number[slot]);
          return tasks.length === TASKS_PER_COMMAND;
        }),
      );
      after = looked.last;
      isMore = looked.isMore;
      if (tasks.length === 0) continue;
      const done = await act(tasks, author);
      sum += done;
      if (done > 0) author = {};
    }
    return sum;
  }
}

/** Maximum number of tasks per command. */
const TASKS_PER_COMMAND = 1000;

/** Maximum number of errors compared in one turn, so that other work is not delayed. */
const COMPARED_MAX = 1000;

interface Looked {
  /** The last task that was visited. */
  readonly last: Place | undefined;
  readonly isMore: boolean;
}

/** Visits matching tasks after a place, until `visit` has enough or the turn took too long. */
function lookThrough(
  state: ReadonlyState,
  scope: DeadLetterScope,
  after: Place | undefined,
  visit: (slot: Slot) => boolean,
): Looked {
  const { endedAt, number } = state.tasks;
  let last: Place | undefined = after;
  let compared = 0;
  let isEnough = false;
  for (const slot of deadLetters(state, scope)) {
    if (after !== undefined && !isBehind(state, slot, after)) continue;
    if (isEnough) return { last, isMore: true };
    last = { endedAt: endedAt[slot], number: number[slot] };
    compared += scope.fingerprint === undefined ? 0 : 1;
    isEnough = (isMeant(state, slot, scope) && visit(slot)) || compared === COMPARED_MAX;
  }
  return { last, isMore: false };
}

function isMeant(state: ReadonlyState, slot: Slot, { fingerprint }: DeadLetterScope): boolean {
  if (fingerprint === undefined) return true;
  const { result, resultLength, reason } = state.tasks;
  const text = payloadText(state, result[slot], resultLength[slot]);
  return fingerprintOfEnd({ result: text, reason: reason[slot] }) === fingerprint;
}

type Redrives = ReturnType<ReadonlyState['redrives']['entries']>;
type Redrive = Redrives extends Iterable<readonly [number, infer R]> ? R : never;

function redriveView({ number, redrive }: { readonly number: number; readonly redrive: Redrive }) {
  const { taskType, ratePerSec, startedAt, done } = redrive;
  return {
    id: `${ID_PREFIX}${number}`,
    type: taskType === '' ? null : taskTypeOf(taskType),
    ratePerSec,
    startedAt: timeText(startedAt),
    done,
  };
}

/** The dead letters of a type are linked by one column, those of a namespace by another. */
function* deadLetters(
  state: ReadonlyState,
  { namespace, taskType }: DeadLetterScope,
): Iterable<Slot> {
  const { tasks, deadLetters } = state;
  const queue = taskType === undefined ? undefined : state.queueOf(queueKey(namespace, taskType));
  if (taskType !== undefined && queue === undefined) return;
  const links = queue === undefined ? tasks.nextHeld : tasks.next;
  let slot =
    queue === undefined
      ? deadLetters.firstOfNamespace(namespace)
      : deadLetters.firstOfQueue(queue.index);
  for (; slot !== NO_SLOT; slot = links[slot] as Slot) yield slot;
}

/** The place of the last task of a page. */
interface Place {
  readonly endedAt: number;
  readonly number: number;
}

function parsePlace(cursor: string): Place {
  const [, endedAt, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursorText(cursor)) ?? [];
  if (endedAt === undefined) throw badCursor();
  return { endedAt: Number(endedAt), number: Number(number) };
}

/** Tasks that ended at the same time have no order, so a higher number counts as later. */
function isBehind({ tasks }: ReadonlyState, slot: Slot, { endedAt, number }: Place): boolean {
  if (tasks.endedAt[slot] !== endedAt) return tasks.endedAt[slot] > endedAt;
  return tasks.number[slot] > number;
}
