import { DEFAULT_NAMESPACE, findRun, NO_SLOT, parseRunId, RUN_STATES } from '@sluice/core';
import { type OpenStep, openSteps } from './runs/step-places.ts';
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
      const { tasks, why } = waitsOfRun(server, next);
      if (why === undefined) return undefined;
      parts.push(next === id ? why : `${next}: ${why}`);
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

interface RunWaits {
  readonly tasks: readonly string[];
  /** Undefined when the run waits for nothing. */
  readonly why: string | undefined;
}

function waitsOfRun(server: InProcessServer, id: string): RunWaits {
  const { state } = server.partition;
  const run = findRun(state, DEFAULT_NAMESPACE, id);
  if (run === NO_SLOT) return { tasks: [], why: undefined };
  const open = openSteps(state, run);
  const tasks = open.flatMap(({ task }) => (task === undefined ? [] : [server.view(task).id]));
  const called = open.filter(({ task }) => task === undefined);
  const isPaused = RUN_STATES[state.runs.table.state[run]] === 'paused';
  const reasons = [
    ...(tasks.length === 0 ? [] : [`it waits for ${list(tasks)}`]),
    ...(called.length === 0 ? [] : [waitsForCalls(called)]),
    ...(isPaused ? ['it is paused, until run.resume()'] : []),
  ];
  return { tasks, why: reasons.length === 0 ? undefined : reasons.join('; ') };
}

function waitsForCalls(steps: readonly OpenStep[]): string {
  const names = steps.map(({ reference, kind }) => `${reference} (${kind})`);
  const [{ reference }] = steps;
  return `it waits for a call that ends ${list(names)}: run.complete('${reference}', output)`;
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
