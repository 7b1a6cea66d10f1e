import { LIMITS } from '@sluice/protocol/limits';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';

export interface ChangeItem {
  readonly op: 'put' | 'delete';
  readonly id: string;
}

interface BatchAnswer {
  readonly items: readonly {
    readonly change?: string;
    readonly error?: {
      readonly code: string;
      readonly message: string;
    };
  }[];
}

export interface ChangeResult {
  readonly change: string;
  /** Why it was refused. */
  readonly problem?: string;
}

/** Brackets and commas need room, too. */
const BATCH_BYTES_MAX = LIMITS.bodyBytesMax - LIMITS.payloadBytesMax;

/** Makes the changes in order. A batch that is refused as a whole is a problem of its items. */
export async function changeInBatches(
  api: ApiCaller,
  items: readonly ChangeItem[],
  countMax: number,
): Promise<ChangeResult[]> {
  const results: ChangeResult[] = [];
  for (const batch of batchesOf(items, countMax)) results.push(...(await changeOne(api, batch)));
  return results;
}

async function changeOne(api: ApiCaller, batch: readonly ChangeItem[]): Promise<ChangeResult[]> {
  try {
    // Safe to repeat: an item that was made is unchanged the second time.
    const answer = await api.post<BatchAnswer>('/v1/schedules/batch', ['items'], batch);
    return answer.items.map(({ change = '', error }, place) => {
      // Another program may have deleted it meanwhile.
      const isGone = batch[place].op === 'delete' && error?.code === 'schedule_not_found';
      if (error === undefined || isGone) return { change };
      return { change, problem: `${error.message} (${error.code})` };
    });
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    return batch.map(() => ({ change: '', problem: cause.message }));
  }
}

/** Batches that are within the number of items and the size of a request. */
export function batchesOf<T>(items: readonly T[], countMax: number): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    const last = batches.at(-1);
    if (last === undefined || last.length >= countMax || bytes + size > BATCH_BYTES_MAX) {
      batches.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return batches;
}
