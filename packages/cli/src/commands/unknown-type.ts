import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { visible } from '../screen/visible.ts';

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

interface Explanation {
  readonly reasons: readonly { readonly code: string }[];
}

async function isRegistered(api: ApiCaller, type: string): Promise<boolean> {
  try {
    await api.get<object>(`/v1/task-types/${encodeURIComponent(type)}`, []);
    return true;
  } catch (cause) {
    const isMissing =
      cause instanceof RefusedError && cause.message.includes('(task_type_not_found)');
    if (isMissing) return false;
    throw cause;
  }
}
