import { expect } from 'vitest';
import type {
  DiscardDeadLetters,
  EndRedrive,
  PutTaskType,
  SetQueuePaused,
  StartRedrive,
} from '../task-commands.ts';
import { keyOf, namespaceOf } from './model-task.ts';
import type { Action } from './world-actions.ts';
import type { Operated } from './world-operations.ts';

type QueueOperation = Extract<Action, { queue: unknown }>['queue'];
type Definition = Extract<Action, { define: unknown }>['define'];

/** What operators do to a queue or to dead letters; answers what was met. */
export function operateOnQueue(world: Operated, action: QueueOperation): string[] {
  const { partition, model } = world;
  const { type, operation } = action;
  if (operation === 'discard') return discard(world, action);
  if (operation === 'redrive') return startRedrive(world, action);
  if (operation === 'end redrive') return endRedrive(world, action);
  const key = keyOf(partition.namespace, type);
  const paused = operation === 'pause';
  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: type, paused });
  if (paused) model.pausedQueues.add(key);
  else model.hasRested = model.pausedQueues.delete(key);
  return [`queue ${operation}`];
}

/** Which dead letters are meant, for the model and for the partition. */
function scopeOf({ partition }: Operated, { type, isForAll }: QueueOperation) {
  const { namespace } = partition;
  const key = keyOf(namespace, type);
  return {
    isMeant: (other: string) => (isForAll ? namespaceOf(other) === namespace : other === key),
    scope: isForAll ? {} : { taskType: type },
  };
}

function discard(world: Operated, action: QueueOperation): string[] {
  const { partition, model } = world;
  const { isMeant, scope } = scopeOf(world, action);
  const meant = model.dead.filter((task) => isMeant(task.type));
  const reply = partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters', ...scope });
  expect(reply).toEqual({ discarded: meant.length, more: false });
  for (let task = model.oldestDead(isMeant); task !== undefined; ) {
    model.discard(task);
    task = model.oldestDead(isMeant);
  }
  return [meant.length > 0 ? 'discarded' : 'nothing to discard'];
}

function startRedrive(world: Operated, action: QueueOperation): string[] {
  const { partition, model } = world;
  const { isMeant, scope } = scopeOf(world, action);
  const { ratePerSec } = action;
  const meant = model.dead.filter((task) => isMeant(task.type));
  const reply = partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec, ...scope });
  expect(reply.count).toBe(meant.length);
  const { namespace } = partition;
  const times = { startedAt: world.time, nextAt: world.time };
  model.redrives.push({ number: reply.redrive, namespace, isMeant, ratePerSec, ...times });
  return ['redrive'];
}

/** The newest redrive, under its own namespace or not. */
function endRedrive({ partition, model }: Operated, { isForAll }: QueueOperation): string[] {
  const redrive = model.redrives.at(-1);
  partition.namespace = isForAll ? 'foreign' : (redrive?.namespace ?? 'default');
  const isFound = redrive !== undefined && !isForAll;
  const number = redrive?.number ?? 99;
  const reply = partition.operate<EndRedrive>({ type: 'end_redrive', redrive: number });
  expect(reply).toEqual({ found: isFound });
  if (isFound) model.redrives.pop();
  if (redrive === undefined) return ['end redrive of none'];
  return [isFound ? 'redrive ended' : 'end redrive of another namespace'];
}

/** Says what tasks of a type have by default, or takes it back. */
export function defineType(
  { partition, model }: Operated,
  { type, definition }: Definition,
): string[] {
  const key = keyOf(partition.namespace, type);
  const existed = model.definitions.has(key);
  const command = { type: 'put_task_type', taskType: type, definition } as const;
  expect(partition.operate<PutTaskType>(command)).toEqual({ existed });
  if (definition === undefined) {
    model.definitions.delete(key);
    return [existed ? 'type removed' : 'no type to remove'];
  }
  model.definitions.set(key, definition);
  return [existed ? 'type defined again' : 'type defined'];
}
