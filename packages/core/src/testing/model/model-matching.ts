import type { SessionId } from '../../base/ids.ts';
import type { PartitionLimits } from '../../state/state.ts';
import { couldRun, ModelRoom, type ModelWorker } from './model-room.ts';
import type { ModelTask } from './model-task.ts';
import { isOverdue } from './model-timers.ts';

export interface ModelRules {
  readonly reserveAfterMs: number;
  readonly ageAfterMs: number;
  readonly agedLeaseEvery: number;
}

export interface ModelSession extends ModelWorker {
  readonly namespace: string;
  leaseMs: number;
  /** Number of the last resume that had one. */
  resumeNumber: number;
  /** As of its newest lease: what a restarted server knows. */
  logged: { readonly leaseMs: number; readonly resumeNumber: number };
  connection: number;
  heardAt: number;
  heldSince: number;
  graceUntil: number;
  /** Its lease count. */
  leases: number;
  /** It needs no reservation before it has this many leases. */
  keepsRoomFrom: number;
}

/** The task that each session reserves room for. */
export type Reservations = ReadonlyMap<SessionId, number>;

/** The input of the matching rules. */
export interface ModelScene {
  /** Queued tasks; within a level the first goes first. */
  readonly waiting: readonly ModelTask[];
  readonly sessions: readonly ModelSession[];
  /** Leased tasks, oldest lease first. */
  readonly held: readonly ModelTask[];
  /** Keys of paused queues. */
  readonly pausedQueues: ReadonlySet<string>;
  readonly rules: ModelRules;
  readonly limits: Pick<PartitionLimits, 'unsentBytesMax'>;
  /**
   * Reservations before and after the current command. A push does not show which of them applied.
   */
  readonly reservedBefore: Reservations;
  readonly reserved: Reservations;
  /** Tasks that the command leases out. */
  readonly given: ReadonlySet<number>;
  /**
   * The session that changed its offer in the command, which ends its reservation; another may
   * follow.
   */
  readonly newOffer: SessionId | undefined;
}

/** Why a waiting task must not go to this session now; `undefined` when it may. */
export function whyNotPushed(
  scene: ModelScene,
  task: ModelTask,
  session: ModelSession,
  now: number,
): string | undefined {
  const { number } = task;
  if (isOverdue(task, now)) return `the deadline of task ${number} has passed`;
  const room = roomOf(scene, session);
  if (!room.takes(task, now)) return `${session.id} may not take task ${number}`;
  if (scene.pausedQueues.has(task.type)) return `the queue ${task.type} is paused`;
  const takeable = ready(scene).filter((each) => room.takes(each, now));
  const turns = [undefined, scene.reservedBefore.get(session.id), scene.reserved.get(session.id)];
  const [before, after] = turns.slice(1);
  const isSteady = before === after && session.id !== scene.newOffer;
  const expect = (reservedFor: number | undefined) => {
    const permitted = takeable.filter((each) => isPermitted(scene, each, reservedFor));
    return next(scene, session, permitted, now).map((each) => each?.number);
  };
  const expected = (isSteady ? [before] : turns).flatMap(expect);
  if (expected.includes(number)) return undefined;
  const meanwhile = keptMeanwhile(scene, session, takeable, now).flatMap(expect);
  return meanwhile.includes(number) ? undefined : `task ${number} goes before ${expected}`;
}

/** Tasks that may have had a reservation within the command, until they were leased elsewhere. */
function keptMeanwhile(
  scene: ModelScene,
  session: ModelSession,
  takeable: readonly ModelTask[],
  now: number,
): number[] {
  return next(scene, session, takeable, now)
    .filter((task) => task !== undefined)
    .flatMap((task) => overtakenBy(scene, task, session, now))
    .map(({ number }) => number)
    .filter((number) => scene.given.has(number));
}

/** The tasks that may be next (matching.level-order). */
function next(
  scene: ModelScene,
  session: ModelSession,
  takeable: readonly ModelTask[],
  now: number,
): (ModelTask | undefined)[] {
  const { agedLeaseEvery, ageAfterMs } = scene.rules;
  const able = live(takeable, now);
  const [first] = able.toSorted((a, b) => inLine(a, b));
  if ((session.leases + 1) % agedLeaseEvery !== 0) return [first];
  const heads = able.filter(
    (task) => able.find((other) => laneOf(other) === laneOf(task)) === task,
  );
  const aged = heads
    .filter(({ joinedAt }) => now - joinedAt >= ageAfterMs)
    .toSorted((a, b) => a.joinedAt - b.joinedAt || inLine(a, b));
  // An overdue task hides the tasks behind it until its turn comes.
  if (able.length < takeable.length) return [...aged, first];
  return [aged[0] ?? first];
}

/** Tasks that may still get a lease (matching.no-overdue). */
function live(tasks: readonly ModelTask[], now: number): ModelTask[] {
  return tasks.filter((task) => !isOverdue(task, now));
}

/**
 * Tasks that wait although a worker may take them (matching.no-idle-fit), or would expire there
 * (matching.no-overdue).
 */
export function missingPushes(scene: ModelScene, now: number): number[] {
  const open = ready(scene);
  if (open.length === 0) return [];
  return scene.sessions.flatMap((session) => {
    const room = roomOf(scene, session);
    if (!room.isOpen(now)) return [];
    return open
      .filter((task) => room.takes(task, now))
      .filter((task) => isPermitted(scene, task, scene.reserved.get(session.id)))
      .map((task) => task.number);
  });
}

/** A task that waited too long, and the session on which a push overtook it. */
export interface Overtaken {
  readonly session: SessionId;
  readonly number: number;
  /** How many other tasks may have had the reservation meanwhile, until they were pushed, too. */
  keptMeanwhile: number;
}

/**
 * Tasks that a push overtakes although they waited too long and could run on that session, unless
 * the session recently had a reservation.
 */
export function overtakenBy(
  scene: ModelScene,
  pushed: ModelTask,
  session: ModelSession,
  now: number,
): Overtaken[] {
  if (session.leases < session.keepsRoomFrom) return [];
  const room = roomOf(scene, session);
  const open = ready(scene).filter(({ number }) => (session.refused.get(number) ?? 0) <= now);
  return open
    .filter((task) => now - task.joinedAt >= scene.rules.reserveAfterMs)
    .filter((task) => open.find((other) => laneOf(other) === laneOf(task)) === task)
    .filter((task) => !isOverdue(task, now))
    .filter((task) => inLine(task, pushed) < 0 && couldRun(session, task))
    .filter((task) => room.hasTypeLeft(task) && !room.takes(task, now))
    .map(({ number }) => ({ session: session.id, number, keptMeanwhile: 0 }));
}

/**
 * Whether room may have been reserved for a task within the command that pushes it to this session.
 * Sessions are filled one after the other, so a session without room for the task may come first.
 */
export function mayHaveBeenKept(
  scene: ModelScene,
  pushed: ModelTask,
  session: ModelSession,
  now: number,
): boolean {
  if (now - pushed.joinedAt < scene.rules.reserveAfterMs) return false;
  if ([...scene.reservedBefore.values()].includes(pushed.number)) return false;
  return scene.sessions.some((each) => each !== session && couldRun(each, pushed));
}

/** Problems with the reservations after a command that overtook these tasks. */
export function reservationProblems(
  scene: ModelScene,
  overtaken: readonly Overtaken[],
  now: number,
): string[] {
  const { reserved, reservedBefore, sessions, waiting, rules } = scene;
  const problems: string[] = [];
  const most = Math.min(16, Math.max(1, Math.floor(sessions.length / 4)));
  if (reserved.size > reservedBefore.size && reserved.size > most) problems.push('too many');
  if (new Set(reserved.values()).size < reserved.size) problems.push('two for one task');
  for (const [id, number] of reserved) {
    const session = sessions.find((each) => each.id === id);
    const task = ready(scene).find((each) => each.number === number);
    if (session === undefined || task === undefined) problems.push(`${id} for ${number}: gone`);
    else if (now - task.joinedAt < rules.reserveAfterMs) problems.push(`${number} is too early`);
    else if (!couldRun(session, task)) problems.push(`${id} could never run ${number}`);
  }
  const known = Math.max(reserved.size, reservedBefore.size);
  const kept = new Set(reserved.values());
  for (const { session, number, keptMeanwhile } of overtaken) {
    if (known + keptMeanwhile >= most) continue;
    if (reserved.has(session) || reservedBefore.has(session) || kept.has(number)) continue;
    const isWaiting = waiting.some((task) => task.number === number);
    if (isWaiting) problems.push(`${number} is overtaken at ${session}`);
  }
  return problems;
}

function isPermitted(scene: ModelScene, task: ModelTask, reservedFor: number | undefined): boolean {
  const kept = scene.waiting.find((each) => each.number === reservedFor);
  return kept === undefined || task === kept || inLine(task, kept) < 0;
}

/** Negative when `a` goes first. */
function inLine(a: ModelTask, b: ModelTask): number {
  return b.priority - a.priority || a.place - b.place;
}

function ready({ waiting, pausedQueues }: ModelScene): ModelTask[] {
  return waiting.filter(({ type }) => !pausedQueues.has(type));
}

function laneOf({ type, priority, resources, constraints }: ModelTask): string {
  return JSON.stringify([type, priority, resources, constraints]);
}

function roomOf({ held, limits }: ModelScene, session: ModelSession): ModelRoom {
  const own = held.filter((task) => task.session === session.id);
  return new ModelRoom(session, own, limits.unsentBytesMax);
}
