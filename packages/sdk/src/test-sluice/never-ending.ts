import { DEFAULT_NAMESPACE, findRun, NO_SLOT, parseRunId, type Slot } from '@sluice/core';
import { openTasks } from './runs/run-views.ts';
import type { InProcessServer } from './server/in-process-server.ts';

/** Ids of the tasks that the handler of a lease waits for. */
export type WaitedFor = (lease: string) => readonly string[];

export function isRunId(id: string): boolean {
  return parseRunId(id) !== undefined;
}

/** Number of tasks that a message names. */
const TASKS_SHOWN = 5;

/**
 * Why a task or run will never end by itself, once nothing is due any more and every running
 * handler waits for tasks. Undefined while a call from outside may still end it, because a handler
 * returned `Later`.
 */
export function whyNever(
  server: InProcessServer,
  waitedFor: WaitedFor,
  id: string,
): string | undefined {
  const parts: string[] = [];
  const ids = new Set([id]);
  // The set grows: the tasks that a task waits for are looked at as well, each once.
  for (const next of ids) {
    if (isRunId(next)) {
      const tasks = tasksOfRun(server, next);
      if (tasks.length === 0) return undefined;
      parts.push(`it waits for ${list(tasks)}`);
      for (const task of tasks) ids.add(task);
      continue;
    }
    const slot = server.find(next);
    const lease = slot === undefined ? undefined : server.leaseOf(slot);
    const others = lease === undefined ? [] : waitedFor(lease);
    const why =
      others.length === 0 ? reasonOf(server, next) : `its handler waits for ${list(others)}`;
    if (why === undefined) return undefined;
    if (parts.length < TASKS_SHOWN)
      parts.push(next === id ? why : `${named(server, next)}: ${why}`);
    for (const other of others) ids.add(other);
  }
  return parts.join('; ');
}

function tasksOfRun(server: InProcessServer, id: string): string[] {
  const { state } = server.partition;
  const run: Slot = findRun(state, DEFAULT_NAMESPACE, id);
  return run === NO_SLOT ? [] : openTasks(state, run).map((slot) => server.view(slot).id);
}

function reasonOf(server: InProcessServer, id: string): string | undefined {
  const slot = server.find(id);
  if (slot === undefined) return 'it no longer exists';
  const { state } = server.view(slot);
  // No handler runs it, so its handler returned `Later`.
  if (state === 'running') return undefined;
  return server.explain(slot) || `it is ${state}`;
}

function named(server: InProcessServer, id: string): string {
  const slot = server.find(id);
  return slot === undefined ? id : `${id} (${server.view(slot).type})`;
}

function list(ids: readonly string[]): string {
  const more = ids.length > TASKS_SHOWN ? ` and ${ids.length - TASKS_SHOWN} more` : '';
  return `${ids.slice(0, TASKS_SHOWN).join(', ')}${more}`;
}
