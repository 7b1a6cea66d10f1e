import type { TaskPatch } from '../../commands/tasks/patch-tasks.ts';
import { bytesOf, signalBytes, textBytes, textsOf } from './model-bytes.ts';
import type { ModelPlaces } from './model-places.ts';
import type { ModelSessions } from './model-sessions.ts';
import { isOver, type ModelTask } from './model-task.ts';
import { runAgain } from './model-timers.ts';

/**
 * Operations on a task that was found, as the contract describes them; each returns the refusal.
 */
export type Refusal = string | undefined;

export function cancel(
  places: ModelPlaces,
  task: ModelTask,
  when: { readonly graceMs: number; readonly now: number; readonly graceUntil: number },
): Refusal {
  const { graceMs, now, graceUntil } = when;
  if (task.state === 'cancelled') return undefined;
  if (isOver(task)) return 'task_finished';
  if (!places.held.includes(task)) places.finish(task, 'cancelled', 'cancelled', now);
  else if (task.stop?.reason !== 'cancelled') {
    task.stop = { reason: 'cancelled', at: Math.max(now, graceUntil) + graceMs };
  }
  return undefined;
}

export function pause(places: ModelPlaces, task: ModelTask, now: number): Refusal {
  const refusal = whyNotIdle(task);
  if (refusal !== undefined || task.state === 'paused') return refusal;
  task.queuedMs = task.state === 'queued' ? now - task.joinedAt : undefined;
  places.takeOut(task);
  Object.assign(task, { state: 'paused', reason: 'paused' });
  return undefined;
}

export function resume(places: ModelPlaces, task: ModelTask, now: number): Refusal {
  const refusal = whyNotIdle(task);
  if (refusal !== undefined || task.state !== 'paused') return refusal;
  if (task.queuedMs === undefined && task.dueAt > now) places.sleep(task, 'resumed', task.dueAt);
  else places.queue(task, 'resumed', { now: now - (task.queuedMs ?? 0), toHead: true });
  return undefined;
}

export function retry(
  places: ModelPlaces,
  task: ModelTask,
  now: number,
  input = task.input,
): Refusal {
  if (task.state === 'succeeded') return 'task_finished';
  if (!isOver(task)) return 'task_not_finished';
  const addedBytes = bytesOf(input) - bytesOf(task.input);
  const isTooMuch = addedBytes > 0 && places.heldBytes + addedBytes > places.limits.payloadBytesMax;
  if (isTooMuch) return 'too_many_bytes';
  if (places.isOverQuota(task, input)) return 'quota_exceeded';
  task.input = input;
  runAgain(places, task, 'retried', now);
  return undefined;
}

export function endOutside(
  places: ModelPlaces,
  task: ModelTask,
  end: { readonly outcome: 'succeeded' | 'failed'; readonly payload: string; readonly now: number },
): Refusal {
  if (isOver(task)) return 'task_finished';
  if (task.stop?.reason === 'cancelled') {
    places.finish(task, 'cancelled', 'cancelled', end.now);
    return undefined;
  }
  task.result = end.payload;
  places.finish(task, end.outcome, 'ended_outside', end.now);
  return undefined;
}

/** Changes to a task: absent fields stay, null clears. */
export type ModelPatch = Omit<TaskPatch, 'id' | 'hasInput'> & { readonly input?: string };

export function patch(
  places: ModelPlaces,
  task: ModelTask,
  change: ModelPatch,
  now: number,
): Refusal {
  const refusal = whyNotIdle(task) ?? whyTooMuch(places, task, withPatch(task, change));
  if (refusal === undefined) applyPatch(places, task, change, now);
  return refusal;
}

export function applyPatch(
  places: ModelPlaces,
  task: ModelTask,
  change: ModelPatch,
  now: number,
): void {
  const { priority, runAt } = change;
  Object.assign(task, withPatch(task, change));
  if (priority !== undefined) {
    task.priority = priority ?? 4;
    if (task.state === 'queued') places.queue(task, task.reason, { now: task.joinedAt });
  }
  if (runAt !== undefined) reschedule(places, task, runAt ?? 0, now);
}

type Patched = Pick<ModelTask, 'input' | 'timeouts' | 'tags'>;

function withPatch(task: ModelTask, { input, timeouts, tags }: ModelPatch): Patched {
  return {
    input: input ?? task.input,
    timeouts: timeouts === undefined ? task.timeouts : merge({ ...task.timeouts }, timeouts),
    tags: tags === undefined ? task.tags : merge<string>(task.tags, tags),
  };
}

/** A patch that makes the task larger needs room, even if others share its texts. */
function whyTooMuch(places: ModelPlaces, task: ModelTask, patched: Patched): Refusal {
  if (Object.keys(patched.tags).length > 32) return 'too_many_tags';
  const bytes = ownBytes({ ...task, ...patched }) - ownBytes(task);
  const isTooMuch = bytes > 0 && places.heldBytes + bytes > places.limits.payloadBytesMax;
  return isTooMuch ? 'too_many_bytes' : undefined;
}

function ownBytes(task: ModelTask): number {
  const { timeouts, tags } = textsOf(task);
  return bytesOf(task.input) + textBytes(timeouts) + textBytes(tags);
}

/** A signal to the worker that runs the task. */
export function signal(
  model: ModelSessions,
  task: ModelTask,
  word: { readonly name: string; readonly data: string },
): Refusal {
  if (!model.held.includes(task)) return 'task_not_leased';
  const session = model.sessions.find(({ id }) => id === task.session);
  if (session?.connected !== true) return 'worker_unreachable';
  if (session.unsentBytes >= model.limits.unsentBytesMax) return 'worker_unreachable';
  session.unsentBytes += signalBytes(word);
  return undefined;
}

function reschedule(places: ModelPlaces, task: ModelTask, runAt: number, now: number): void {
  if (task.state === 'paused') {
    Object.assign(task, { queuedMs: undefined, dueAt: Math.max(runAt, now) });
  } else if (runAt > now) {
    places.sleep(task, 'delayed', runAt);
  } else if (task.state === 'waiting') {
    places.queue(task, 'rescheduled', { now });
  }
}

export function whyNotIdle(task: ModelTask): Refusal {
  if (isOver(task)) return 'task_finished';
  return task.state === 'leased' || task.state === 'running' ? 'task_running' : undefined;
}

function merge<T>(
  before: Readonly<Record<string, T>>,
  change: Readonly<Record<string, T | null | undefined>> | null,
): Record<string, T> {
  if (change === null) return {};
  const entries = Object.entries({ ...before, ...change });
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== null));
}
