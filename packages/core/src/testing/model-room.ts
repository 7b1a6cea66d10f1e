import type { SessionId } from '../ids.ts';
import type { ModelTask } from './model-task.ts';

export interface ModelSession {
  readonly id: SessionId;
  types: readonly string[];
  slots: number;
  leaseMs: number;
  /** As of its newest lease: what a restarted server knows. */
  loggedLeaseMs: number;
  connection: number;
  connected: boolean;
  heardAt: number;
  heldSince: number;
  graceUntil: number;
}

/** What the rules of matching speak of: who waits, who is there, who holds what. */
export interface ModelScene {
  /** Tasks that wait for a worker; the first of a type and priority goes first. */
  readonly waiting: readonly ModelTask[];
  readonly sessions: readonly ModelSession[];
  /** Held tasks, oldest lease first. */
  readonly held: readonly ModelTask[];
  /** Keys of queues that give nothing out. */
  readonly pausedQueues: ReadonlySet<string>;
}

/** Why a waiting task must not go to this session now; `undefined` when it may. */
export function whyNotPushed(
  scene: ModelScene,
  task: ModelTask,
  session: ModelSession,
): string | undefined {
  const { number, type } = task;
  if (!hasRoom(scene, session)) return `session ${session.id} has no room for task ${number}`;
  if (!session.types.includes(type)) return `${session.id} does not do ${type}`;
  if (scene.pausedQueues.has(type)) return `the queue ${type} is paused`;
  const first = firstOf(scene, type);
  return first === task ? undefined : `task ${number} goes before task ${first?.number}`;
}

/** M1: tasks that wait although a worker has room for them. */
export function missingPushes(scene: ModelScene): number[] {
  const withRoom = scene.sessions.filter((session) => hasRoom(scene, session));
  return scene.waiting
    .filter((task) => !scene.pausedQueues.has(task.type))
    .filter((task) => withRoom.some((session) => session.types.includes(task.type)))
    .map((task) => task.number);
}

function hasRoom({ held }: ModelScene, { id, connected, slots }: ModelSession): boolean {
  return connected && held.filter((task) => task.session === id).length < slots;
}

function firstOf({ waiting }: ModelScene, type: string): ModelTask | undefined {
  const ofType = waiting.filter((task) => task.type === type);
  const level = Math.max(...ofType.map((task) => task.priority));
  return ofType.find((task) => task.priority === level);
}
