import { type ListedWork, numberOfWork, SCHEDULE_TAG, viewFire } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS } from '@sluice/protocol';
import type { PageRequest } from '../answers/pages.ts';
import type { RunArchive } from '../runs/run-archive.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import { foundSchedule } from './find-schedule.ts';

interface Parts {
  readonly engine: Engine;
  readonly archive: Pick<TaskArchive, 'list'>;
  readonly runs: Pick<RunArchive, 'list'>;
}

interface Listed {
  readonly items: readonly ListedWork[];
  readonly nextCursor: string | null;
  readonly asOf: string;
  readonly lagMs: number;
}

/**
 * What a schedule made, newest first: the tasks and runs that carry its tag. It may have made both,
 * one after a change. Their cursors are numbers of one sequence, so one cursor serves both lists.
 */
export async function listFires(
  { engine, archive, runs }: Parts,
  namespace: string,
  { id, page }: { readonly id: string; readonly page: PageRequest },
): Promise<object> {
  await engine.read((state) => foundSchedule(state, namespace, id));
  const { limit = LIMITS.pageDefault } = page;
  const filter = { tags: { [SCHEDULE_TAG]: id } };
  const lists = await Promise.all([
    archive.list(namespace, filter, page),
    runs.list(namespace, filter, page),
  ]);
  const [tasks, started] = lists.map((json) => JSON.parse(json) as Listed);
  const found = [...tasks.items, ...started.items]
    .map((item) => ({ item, number: numberOfWork(item) }))
    .filter(({ number }) => number >= Math.max(endOf(tasks), endOf(started)))
    .sort((a, b) => b.number - a.number);
  const shown = found.slice(0, limit);
  const isMore = found.length > limit || [tasks, started].some((each) => each.nextCursor !== null);
  const last = shown.at(-1)?.number;
  const following =
    last === undefined ? undefined : Buffer.from(String(last)).toString('base64url');
  return {
    items: shown.map(({ item }) => viewFire(item)),
    nextCursor: isMore ? (following ?? tasks.nextCursor ?? started.nextCursor) : null,
    asOf: tasks.asOf < started.asOf ? tasks.asOf : started.asOf,
    lagMs: Math.max(tasks.lagMs, started.lagMs),
  };
}

/** A page that is not the last one says nothing about what comes behind it. */
function endOf({ items, nextCursor }: Listed): number {
  const last = items.at(-1);
  return nextCursor === null || last === undefined ? 0 : numberOfWork(last);
}
