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
  taskTypeOf,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, SluiceError } from '@sluice/protocol';
import { type Admission, overloaded } from '../admission.ts';
import { AnswerRoom } from '../tasks/answer-room.ts';
import { badCursor, cursorText, type PageRequest, pageJson, placedPage } from '../tasks/pages.ts';
import { taskViewJson } from '../tasks/task-view.ts';
import { timeText } from '../time-text.ts';

const ID_PREFIX = 'd_';
const RATE_DEFAULT = 100;

/** Whose dead letters are meant, and who says so. */
export interface DeadLetterOrder {
  readonly namespace: string;
  /** Of all types without it. */
  readonly taskType?: string;
  readonly by: Author;
}

/** Failed and timed-out tasks that wait for somebody to deal with them. */
export class DeadLetterOperations {
  private readonly engine: Engine;
  private readonly admission: Admission;

  constructor(engine: Engine, admission: Admission) {
    this.engine = engine;
    this.admission = admission;
  }

  /** A page, the first to end first, as JSON text. */
  list(
    namespace: string,
    taskType: string | undefined,
    { limit = LIMITS.pageDefault, cursor }: PageRequest,
  ): Promise<string> {
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    this.admission.read();
    return this.engine.read((state) => {
      const items: string[] = [];
      const room = new AnswerRoom();
      let last: Slot = NO_SLOT;
      let isMore = false;
      for (const slot of deadLetters(state, namespace, taskType)) {
        if (after !== undefined && !isBehind(state, slot, after)) continue;
        isMore = items.length === limit || room.isFull;
        if (isMore) break;
        items.push(room.take(taskViewJson(state, slot)));
        last = slot;
      }
      const { endedAt, number } = state.tasks;
      return pageJson(items, isMore ? `${endedAt[last]}.${number[last]}` : undefined, {
        asOf: state.now,
        lagMs: 0,
      });
    });
  }

  redrive(order: DeadLetterOrder, ratePerSec = RATE_DEFAULT): Promise<object> {
    const type = 'start_redrive';
    this.admission.command(type);
    const command = { type, ratePerSec, ...order } as const;
    return this.engine.execute<StartRedrive, object>(command, ({ rejection, redrive, count }) => {
      if (rejection !== undefined) throw overloaded('too many redrives are under way');
      return { id: `${ID_PREFIX}${redrive}`, count };
    });
  }

  /** A page of those that are under way, the oldest first, as JSON text. */
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
      if (!found) throw new SluiceError('redrive_not_found', `no redrive '${id}' is under way`);
    });
  }

  /** Answers how many. */
  async discard({ by, ...scope }: DeadLetterOrder): Promise<number> {
    const type = 'discard_dead_letters';
    let sum = 0;
    for (let isFirst = true; ; isFirst = false) {
      this.admission.command(type);
      // However many commands it takes, it is one change.
      const command = { type, ...scope, ...(isFirst ? { by } : {}) } as const;
      const { discarded, more } = await this.engine.execute<
        DiscardDeadLetters,
        DiscardDeadLettersReply
      >(command, (reply) => reply);
      sum += discarded;
      if (!more) return sum;
    }
  }
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

/** Of a type they are linked by one column, of a namespace by another. */
function* deadLetters(
  state: ReadonlyState,
  namespace: string,
  taskType: string | undefined,
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

/** The last one of a page. */
interface Place {
  readonly endedAt: number;
  readonly number: number;
}

function parsePlace(cursor: string): Place {
  const [, endedAt, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursorText(cursor)) ?? [];
  if (endedAt === undefined) throw badCursor();
  return { endedAt: Number(endedAt), number: Number(number) };
}

/** Of those that ended at once nothing says who was first, so all later numbers count as behind. */
function isBehind({ tasks }: ReadonlyState, slot: Slot, { endedAt, number }: Place): boolean {
  if (tasks.endedAt[slot] !== endedAt) return tasks.endedAt[slot] > endedAt;
  return tasks.number[slot] > number;
}
