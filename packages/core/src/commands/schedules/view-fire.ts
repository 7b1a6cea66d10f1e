import { parseRunId } from '../../base/run-id.ts';
import { parseTaskId } from '../../base/task-id.ts';
import { SCHEDULED_AT_TAG } from './make-work.ts';

/** A task or run as lists show it. */
export interface ListedWork {
  readonly id: string;
  readonly state?: string;
  readonly status?: string;
  readonly submittedAt?: string | null;
  readonly startedAt?: string | null;
  readonly endedAt: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a fire made, as `GET /v1/schedules/{id}/fires` shows it. */
export function viewFire(item: ListedWork) {
  const firedAt = item.submittedAt ?? item.startedAt ?? '';
  const isRun = parseRunId(item.id) !== undefined;
  return {
    scheduledAt: item.tags[SCHEDULED_AT_TAG] ?? firedAt,
    firedAt,
    ...(isRun ? { runId: item.id } : { taskId: item.id }),
    status: item.state ?? item.status ?? '',
    endedAt: item.endedAt,
  };
}

/** Tasks and runs have numbers of one sequence: the newest one has the largest. */
export function numberOfWork({ id }: Pick<ListedWork, 'id'>): number {
  return (parseTaskId(id) ?? parseRunId(id))?.number ?? 0;
}
