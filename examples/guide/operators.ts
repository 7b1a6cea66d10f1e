import type { Sluice, TaskClient } from '@sluice/sdk';

/** Tasks of a customer that failed since a time, newest first. */
export async function failuresOf(
  sluice: TaskClient,
  customer: string,
  since: Date,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const task of sluice.tasks.list({ state: 'failed', tags: { customer }, since })) {
    lines.push(`${task.id} ${task.type}: ${task.error?.message}`);
  }
  return lines;
}

/** One page of a list, for a program with its own "next" button. */
export async function nextPage(sluice: TaskClient, cursor: string | null) {
  const { items, nextCursor } = await sluice.tasks.page({ type: 'transcode', limit: 20, cursor });
  return { items, nextCursor };
}

/** Cancels what a customer still has to run. */
export async function cancelAllOf(sluice: TaskClient, customer: string): Promise<string> {
  const filter = { tags: { customer } };
  const { matched } = await sluice.tasks.cancelMatching(filter, { dryRun: true });
  const { cancelled, requested } = await sluice.tasks.cancelMatching(filter);
  return `${matched} open, ${cancelled} cancelled, ${requested} told to stop`;
}

/** Lets no worker start a task of the type while the work is done. */
export async function whilePaused(
  sluice: TaskClient,
  type: string,
  work: () => Promise<void>,
): Promise<void> {
  await sluice.queues.pause(type);
  try {
    await work();
  } finally {
    await sluice.queues.resume(type);
  }
}

/** A dead letter with a bad input runs again with a good one. */
export async function correct(sluice: TaskClient, id: string, input: unknown): Promise<void> {
  await sluice.tasks.retry(id, { input });
}

/** After a repair: runs again what failed, ten tasks per second. */
export async function runAgain(sluice: TaskClient, type: string): Promise<number> {
  const { count } = await sluice.deadLetters.redrive({ filter: { type }, ratePerSec: 10 });
  return count;
}

/** Copies the changes of tasks into another system, and remembers how far it is. */
export async function copyChanges(
  sluice: TaskClient,
  store: Store,
  signal: AbortSignal,
): Promise<void> {
  const after = await store.load();
  for await (const event of sluice.events({ after, signal })) {
    if (event.kind === 'gap') await store.readAllAgain();
    else await store.write(event.task, event.to);
    await store.save(event.lastEventId);
  }
}

/** Another system. Writing the same state twice changes nothing. */
export interface Store {
  load(): Promise<string | null>;
  save(lastEventId: string | null): Promise<void>;
  write(task: string, state: string): Promise<void>;
  readAllAgain(): Promise<void>;
}

/** Shows what a handler logs, until its task ends. */
export async function showLines(sluice: Sluice, id: string, show: (line: string) => void) {
  for await (const { attempt, line } of sluice.tasks.followLogs(id)) {
    show(`attempt ${attempt}: ${line}`);
  }
}

/** Replaces a key. The old one works for one hour more. */
export async function rotate(sluice: Sluice, oldKey: string): Promise<string> {
  const { key } = await sluice.keys.create({ replaces: oldKey, overlapMs: 3_600_000 });
  return key;
}

/** Takes the workers of a version out of service. */
export async function drainVersion(sluice: Sluice, version: string): Promise<string[]> {
  const drained: string[] = [];
  for await (const worker of sluice.workers.list()) {
    if (worker.version !== version) continue;
    await sluice.workers.drain(worker.id);
    drained.push(worker.name);
  }
  return drained;
}
