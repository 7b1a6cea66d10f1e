import type { LeaseNumber, SessionId, Slot } from '../../base/ids.ts';
import { NO_SLOT } from '../../base/ids.ts';
import { leaseTokenText } from '../../base/lease-token.ts';
import type { Command, Replies } from '../../commands/commands.ts';
import type { SubmitTasksReply } from '../../commands/tasks/submit-tasks.ts';
import type { Partition } from '../../partition.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { TASK_STATES, WAITING } from '../../task/task-state.ts';
import type { ModelState } from '../model/model-task.ts';
import type { SubmitAnswer } from '../model/partition-model.ts';
import type { Push } from '../test-requests.ts';
import { testUtf8 } from '../test-utf8.ts';

/** An executed command with its reply and effects, as plain values. */
export interface Carried {
  readonly command: Command;
  /** Submits have `answers` instead, and operations on tasks have `outcomes`. */
  readonly reply: unknown;
  /** The partition's time. */
  readonly at: number;
  readonly grantsLeases: boolean;
  readonly pushes: readonly Push[];
  /** Tasks that ended. */
  readonly ended: readonly number[];
  readonly closed: readonly SessionId[];
  readonly signals: readonly CarriedSignal[];
  /** The task that each session reserves room for after the command. */
  readonly reserved: ReadonlyMap<SessionId, number>;
  /** When each waiting task is due after the command; may include jitter. */
  readonly dueAt: ReadonlyMap<number, number>;
  /** Present for an accepted submit. */
  readonly answers: readonly SubmitAnswer[];
  /** One for each task of the command. */
  readonly outcomes: readonly CarriedOutcome[];
}

export interface CarriedSignal extends Push {
  readonly name: string;
  readonly data: string;
}

interface CarriedOutcome {
  readonly rejection: string | undefined;
  /** Undefined when it is not in memory. */
  readonly task: number | undefined;
}

interface Moment {
  readonly at: number;
  /** All sessions that may have a reservation. */
  readonly sessions: Iterable<SessionId>;
}

/** Called right after the command: its outputs are reused for the next one. */
export function carriedCommand<C extends Command>(
  partition: Partition,
  command: C,
  reply: Replies[C['type']],
  { at, sessions }: Moment,
): Carried {
  const { state, outputs } = partition;
  const push = (session: SessionId, slot: Slot) => pushOf(state, session, slot);
  return {
    command,
    reply,
    at,
    grantsLeases: partition.grantsLeases,
    pushes: outputs.pushSlots.map((slot, place) => push(outputs.pushSessions[place], slot)),
    ended: outputs.endedSlots.map((slot) => state.tasks.number[slot]),
    closed: [...outputs.closedSessions],
    signals: outputs.signals.map(({ session, slot, name, data }) => {
      return { ...push(session, slot), name, data: testUtf8.decode(data) };
    }),
    reserved: reservationsOf(partition, sessions),
    dueAt: DRAWS_JITTER.includes(command.type) ? dueTimes(state) : NONE,
    answers: command.type === 'submit_tasks' ? answersOf(state, reply as SubmitTasksReply) : [],
    outcomes: outcomesOf(state, reply),
  };
}

const DRAWS_JITTER: readonly Command['type'][] = [
  'expire_sessions',
  'report_attempts',
  'advance_time',
];
const NONE: ReadonlyMap<number, number> = new Map();

/** One push, read right after the command that sent it. */
export function pushOf(state: ReadonlyState, session: SessionId, slot: Slot): Push {
  const { tasks, partition } = state;
  const lease = leaseTokenText({ partition, slot, number: tasks.lease[slot] as LeaseNumber });
  return { session, task: tasks.number[slot], lease };
}

export function reservationsOf(
  partition: Partition,
  sessions: Iterable<SessionId>,
): ReadonlyMap<SessionId, number> {
  const reserved = new Map<SessionId, number>();
  for (const id of sessions) {
    const task = partition.reservedFor(id);
    if (task !== undefined) reserved.set(id, task);
  }
  return reserved;
}

function dueTimes({ tasks }: ReadonlyState): ReadonlyMap<number, number> {
  const dueAt = new Map<number, number>();
  for (let slot = 0; slot < tasks.capacity; slot++) {
    if (tasks.number[slot] === 0 || tasks.state[slot] !== WAITING) continue;
    dueAt.set(tasks.number[slot], tasks.dueAt[slot]);
  }
  return dueAt;
}

function answersOf({ tasks }: ReadonlyState, { slots, known }: SubmitTasksReply): SubmitAnswer[] {
  return slots.map((slot, place) => {
    const before = known?.get(place);
    if (before === undefined) return [tasks.number[slot]];
    return [before.number, TASK_STATES[before.state] as ModelState];
  });
}

/** An outcome as replies contain it; a reply about a single task is itself an outcome. */
interface Outcome {
  readonly rejection?: string;
  readonly slot: Slot;
}

function outcomesOf({ tasks }: ReadonlyState, reply: unknown): CarriedOutcome[] {
  const { outcomes, slot } = (reply ?? {}) as { outcomes?: readonly unknown[]; slot?: Slot };
  const list = slot === undefined ? (outcomes ?? []) : [reply];
  return list.filter(isOutcome).map((each) => ({
    rejection: each.rejection,
    task: each.slot === NO_SLOT ? undefined : tasks.number[each.slot],
  }));
}

function isOutcome(each: unknown): each is Outcome {
  return typeof each === 'object' && each !== null && 'slot' in each;
}
