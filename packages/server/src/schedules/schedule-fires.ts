import { SCHEDULE_TAG, SCHEDULED_AT_TAG, settingsOf } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { FireView } from '@sluice/protocol';
import type { PageRequest } from '../answers/pages.ts';
import { UTF8 } from '../base/utf8.ts';
import type { RunArchive } from '../runs/run-archive.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import { foundSchedule } from './find-schedule.ts';

interface Parts {
  readonly engine: Engine;
  readonly archive: Pick<TaskArchive, 'list'>;
  readonly runs: Pick<RunArchive, 'list'>;
}

/** A task or run as lists show it. */
interface Listed {
  readonly id: string;
  readonly state?: string;
  readonly status?: string;
  readonly submittedAt?: string;
  readonly startedAt?: string;
  readonly endedAt: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a schedule made, newest first: the tasks or runs that carry its tag. */
export async function listFires(
  { engine, archive, runs }: Parts,
  namespace: string,
  { id, page }: { readonly id: string; readonly page: PageRequest },
): Promise<object> {
  const isRun = await engine.read((state) => {
    const slot = foundSchedule(state, namespace, id);
    return settingsOf(state, slot, UTF8).run !== undefined;
  });
  const filter = { tags: { [SCHEDULE_TAG]: id } };
  const json = isRun
    ? await runs.list(namespace, filter, page)
    : await archive.list(namespace, filter, page);
  const { items, ...rest } = JSON.parse(json) as { readonly items: readonly Listed[] };
  return { items: items.map((item) => fireOf(item, isRun)), ...rest };
}

function fireOf(item: Listed, isRun: boolean): FireView {
  const firedAt = item.submittedAt ?? item.startedAt ?? '';
  return {
    scheduledAt: item.tags[SCHEDULED_AT_TAG] ?? firedAt,
    firedAt,
    ...(isRun ? { runId: item.id } : { taskId: item.id }),
    status: item.state ?? item.status ?? '',
    endedAt: item.endedAt,
  };
}
