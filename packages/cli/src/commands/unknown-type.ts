import { suggest } from '@sluice/protocol/suggestion';
import type { Queue } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { visible } from '../screen/visible.ts';
import { readList } from './shared.ts';

/**
 * What to do about a task that waits because nobody knows its type; undefined for any other task.
 * The name may be wrong, or its worker is not started yet. A failed look-up is no reason to
 * complain: the task is stored, and the key may not be allowed to read.
 */
export async function unknownTypeAdvice(
  api: ApiCaller,
  { id, type }: { readonly id: string; readonly type: string },
): Promise<string | undefined> {
  try {
    const path = `/v1/tasks/${encodeURIComponent(id)}/explain`;
    const { reasons } = await api.get<Explanation>(path, ['reasons']);
    if (!reasons.some(({ code }) => code === 'no_worker_for_type')) return undefined;
    if (await isRegistered(api, type)) return undefined;
  } catch {
    return undefined;
  }
  return (
    `sluice: the type '${visible(type)}' is not registered, and no worker for it is connected: ` +
    'start one, or check the name'
  );
}

/** Why a queue of this type may be a mistake; undefined for one that is known. Never fails. */
export async function unknownQueueAdvice(
  api: ApiCaller,
  type: string,
): Promise<string | undefined> {
  try {
    const { items } = await readList<Queue>(api, '/v1/queues');
    const types = items.map((queue) => queue.type);
    if (types.includes(type) || (await isRegistered(api, type))) return undefined;
    const near = suggest(type, types);
    const hint = near === undefined ? '' : `; did you mean '${visible(near)}'?`;
    return `sluice: there are no tasks and no workers of the type '${visible(type)}' yet${hint}`;
  } catch {
    return undefined;
  }
}

interface Explanation {
  readonly reasons: readonly { readonly code: string }[];
}

async function isRegistered(api: ApiCaller, type: string): Promise<boolean> {
  try {
    await api.get<object>(`/v1/task-types/${encodeURIComponent(type)}`, []);
    return true;
  } catch (cause) {
    if (cause instanceof RefusedError && cause.code === 'task_type_not_found') return false;
    throw cause;
  }
}
