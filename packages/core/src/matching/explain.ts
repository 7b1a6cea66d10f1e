import { NO_SLOT, type Slot } from '../base/ids.ts';
import { goesBefore } from '../decision/waiting-line.ts';
import type { ReadonlyState } from '../state/state.ts';
import { constraintText } from '../task/constraints.ts';
import { amountText } from '../task/resources.ts';
import type { Shape } from '../task/shape.ts';
import {
  isHeld,
  isTerminal,
  PAUSED,
  QUEUED,
  REASONS,
  TASK_STATES,
  WAITING,
} from '../task/task-state.ts';
import type { Lack } from '../workers/room.ts';
import type { Roster, Session } from '../workers/roster.ts';
import { REFUSALS_MAX } from './matching.ts';

/** Why a task is not running, worker by worker. */
export interface Explanation {
  readonly running: boolean;
  readonly reasons: readonly WaitReason[];
  /** Number of workers that handle the type but are not listed. */
  readonly workersNotShown: number;
}

interface WaitReason {
  readonly code: WaitCode;
  readonly message: string;
  /** Name of the worker that the reason is about. */
  readonly worker?: string;
}

type WaitCode =
  | 'not_due'
  | 'paused'
  | 'queue_paused'
  | 'no_worker_for_type'
  | 'worker_full'
  | 'exceeds_worker'
  | 'constraint_unmet'
  | 'draining'
  | 'reserved'
  | 'behind_in_queue'
  | 'finished';

const WORKERS_MAX = 50;

/** Counting tasks ahead stops here, because counting takes time. */
const POSITION_MAX = 10_000;

/** The parts of a partition that `explain` reads. */
interface Explained {
  readonly state: ReadonlyState;
  readonly roster: Roster;
}

export function explainTask(explained: Explained, slot: Slot): Explanation {
  const { tasks } = explained.state;
  const taskState = tasks.state[slot];
  if (taskState === QUEUED) return explainQueued(explained, slot);
  const reason = whyNotReady(explained.state, slot);
  const running = isHeld(taskState) || TASK_STATES[taskState] === 'running';
  return { running, reasons: reason === undefined ? [] : [reason], workersNotShown: 0 };
}

function whyNotReady({ tasks }: ReadonlyState, slot: Slot): WaitReason | undefined {
  const taskState = tasks.state[slot];
  if (taskState === WAITING) {
    const due = new Date(tasks.dueAt[slot]).toISOString();
    return { code: 'not_due', message: `waits until ${due} (${REASONS[tasks.reason[slot]]})` };
  }
  if (taskState === PAUSED) {
    return { code: 'paused', message: 'is paused; it continues when it is resumed' };
  }
  if (!isTerminal(taskState)) return undefined;
  const ended = new Date(tasks.endedAt[slot]).toISOString();
  return { code: 'finished', message: `ended at ${ended}: ${TASK_STATES[taskState]}` };
}

function explainQueued({ state, roster }: Explained, slot: Slot): Explanation {
  const queue = state.queues[state.tasks.queue[slot]];
  const shape = state.texts.shape.at(state.tasks.shape[slot]);
  const reasons: WaitReason[] = [];
  if (queue.paused) {
    reasons.push({ code: 'queue_paused', message: `the queue of '${queue.taskType}' is paused` });
  }
  let workers = 0;
  for (const session of roster.sessions()) {
    const place = session.typePlaces.get(queue.key);
    if (place === undefined || !session.connected) continue;
    workers += 1;
    if (workers > WORKERS_MAX) continue;
    for (const reason of whyNotOn(state, { session, place, shape, slot })) {
      reasons.push({ ...reason, worker: session.worker });
    }
  }
  if (workers === 0) {
    const message = `no worker that handles '${queue.taskType}' is connected`;
    reasons.push({ code: 'no_worker_for_type', message });
  }
  const behind = placeInLine(state, slot);
  if (behind !== undefined) reasons.push(behind);
  return { running: false, reasons, workersNotShown: Math.max(0, workers - WORKERS_MAX) };
}

interface Candidate {
  readonly session: Session;
  /** Place of the type in the session's types. */
  readonly place: number;
  readonly shape: Shape;
  readonly slot: Slot;
}

/**
 * Every reason why this worker does not run the task: permanent ones first, then temporary ones.
 * People would otherwise remove one and find the next.
 */
function whyNotOn(state: ReadonlyState, candidate: Candidate): WaitReason[] {
  const { session, shape } = candidate;
  const { room } = session;
  const reasons: WaitReason[] = [];
  if (session.draining) {
    reasons.push({ code: 'draining', message: 'is draining and gets no new tasks' });
  }
  for (const constraint of room.unmet(shape)) {
    const value = room.labels.get(constraint.label);
    const has =
      value === undefined ? `no label ${constraint.label}` : `${constraint.label} ${value}`;
    const message = `must meet '${constraintText(constraint)}' and has ${has}`;
    reasons.push({ code: 'constraint_unmet', message });
  }
  for (const lack of room.lacking(shape)) {
    const { name, needed, offered } = lack;
    if (needed <= offered) reasons.push(full(lackText(lack)));
    else {
      const message = `needs ${amountText(name, needed)}, has ${offered / 1000} in total`;
      reasons.push({ code: 'exceeds_worker', message });
    }
  }
  return [...reasons, ...whyFull(state, candidate), ...whyReserved(state, candidate)];
}

/** The task would fit, but the worker takes no task, none of this type, or not this one. */
function whyFull(
  { tasks, limits }: ReadonlyState,
  { session, place, slot }: Candidate,
): WaitReason[] {
  const { room, refused } = session;
  const reasons: WaitReason[] = [];
  const limit = session.typeLimits[place];
  const lack = session.typeLacks[place];
  if (lack !== undefined) reasons.push(full(`takes none of this type for now: ${lack}`));
  else if (session.typeUse[place] >= limit) {
    reasons.push(full(`runs ${session.typeUse[place]} of this type, of ${limit} at once`));
  }
  if (room.isOverdrawn) reasons.push(full('uses more than it offers by now'));
  if (refused.has(tasks.number[slot])) reasons.push(full('refused it a moment ago'));
  if (refused.size >= REFUSALS_MAX) {
    reasons.push(full(`refused ${refused.size} tasks a moment ago`));
  }
  if (session.unsentBytes >= limits.unsentBytesMax) {
    reasons.push(full(`has not read ${session.unsentBytes} bytes that were pushed to it`));
  }
  return reasons;
}

function whyReserved(state: ReadonlyState, { session, slot }: Candidate): WaitReason[] {
  const kept = session.reservedFor;
  if (kept === NO_SLOT || kept === slot || goesBefore(state, slot, kept)) return [];
  const waits = 'which has waited long and goes first';
  const message = `keeps its room for task number ${state.tasks.number[kept]}, ${waits}`;
  return [{ code: 'reserved', message }];
}

function full(message: string): WaitReason {
  return { code: 'worker_full', message };
}

function lackText({ name, needed, free, offered }: Lack): string {
  const has = `${Math.max(0, free) / 1000} of ${offered / 1000}`;
  return `needs ${amountText(name, needed)}, has ${has} free`;
}

/** How many ready tasks of the same type go first. */
function placeInLine(state: ReadonlyState, slot: Slot): WaitReason | undefined {
  const { tasks } = state;
  const queue = state.queues[tasks.queue[slot]];
  let before = 0;
  for (const lane of queue.open) {
    if (lane.level > tasks.priority[slot]) before += lane.length;
    if (lane.level !== tasks.priority[slot]) continue;
    let other = lane.head;
    while (other !== NO_SLOT && goesBefore(state, other, slot) && before < POSITION_MAX) {
      before += 1;
      other = tasks.next[other] as Slot;
    }
  }
  if (before === 0) return undefined;
  const position = before < POSITION_MAX ? `${before + 1}` : `behind ${POSITION_MAX} others`;
  const message = `its position among the ready tasks of '${queue.taskType}' is ${position}`;
  return { code: 'behind_in_queue', message };
}
