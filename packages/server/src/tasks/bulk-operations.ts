import {
  type Author,
  type CancelTasks,
  findTask,
  isTerminal,
  NO_SLOT,
  type ReadonlyState,
  type RetryTasks,
  type Slot,
  SUCCEEDED,
  TASK_STATES,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type CancelTasksRequest,
  LIMITS,
  type RetryTasksRequest,
  SluiceError,
} from '@sluice/protocol';
import { type ScanPlace, scanStart, scanTasks } from '../base/task-scan.ts';
import { invalid } from '../base/validation.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskArchive } from './task-archive.ts';
import { makeTaskFilter, type TaskFilter } from './task-filter.ts';
import type { TaskOperations } from './task-operations.ts';
import { refusalOf, retryRefusal } from './task-refusals.ts';
import { taskIdOf } from './task-view.ts';

/** Maximum number of tasks per command, and per page of the archive. */
const IDS_PER_COMMAND = 1000;

/** Options of a bulk cancel. */
interface Order {
  readonly namespace: string;
  readonly graceMs: number;
  readonly dryRun: boolean;
}

/**
 * Counts for a filter: matching tasks, tasks that ended at once, and tasks whose worker was asked.
 */
interface Cancelled {
  matched: number;
  cancelled: number;
  requested: number;
}

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly archive: Pick<TaskArchive, 'ends'>;
}

/** Cancels many tasks, by their ids or by a filter. */
export class BulkCancel {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly archive: Parts['archive'];

  constructor({ engine, admission, archive }: Parts) {
    this.engine = engine;
    this.admission = admission;
    this.archive = archive;
  }

  async run(namespace: string, request: CancelTasksRequest): Promise<object> {
    const { ids, filter, graceMs = LIMITS.graceMsDefault, dryRun = false } = request;
    if ((ids === undefined) === (filter === undefined)) {
      throw invalid('the body is not valid', [{ path: '', problem: 'needs ids or a filter' }]);
    }
    const order = { namespace, graceMs, dryRun };
    if (ids === undefined) return this.byFilter(filter ?? {}, order);
    return dryRun ? this.wouldCancel(namespace, ids) : this.byIds(ids, order);
  }

  private async byIds(ids: readonly string[], order: Order): Promise<object> {
    const items = await this.execute(ids, order, (outcomes, state) => {
      return outcomes.map(({ rejection, slot }, place) => {
        const id = ids[place];
        if (rejection !== undefined) return refused(id, rejection);
        return { id, ok: true, state: TASK_STATES[state.tasks.state[slot]] };
      });
    });
    const gone = items.flatMap((item) => (isUnknown(item) ? item.id : []));
    const ends = await this.archive.ends(order.namespace, gone);
    return {
      items: items.map((item) => {
        const state = isUnknown(item) ? ends.get(item.id)?.state : undefined;
        if (state === undefined) return item;
        if (TASK_STATES[state] !== 'cancelled') return refused(item.id, 'task_finished');
        return { id: item.id, ok: true, state: TASK_STATES[state] };
      }),
    };
  }

  private async wouldCancel(namespace: string, ids: readonly string[]): Promise<object> {
    this.admission.read();
    return this.engine.read((state) => {
      const slots = [...new Set(ids)].map((id) => findTask(state, namespace, id));
      const live = slots.filter((slot) => slot !== NO_SLOT && isLive(state, slot));
      return { matched: live.length, cancelled: 0, requested: 0, dryRun: true };
    });
  }

  /** Runs slice by slice. Tasks that are submitted meanwhile are not included. */
  private async byFilter(filter: TaskFilter, order: Order): Promise<object> {
    const { namespace, dryRun } = order;
    const isMeant = makeTaskFilter(namespace, filter);
    const sum: Cancelled = { matched: 0, cancelled: 0, requested: 0 };
    this.admission.read();
    let place: ScanPlace | undefined = await this.engine.read(scanStart);
    while (place !== undefined) {
      const ids: string[] = [];
      const from: ScanPlace = place;
      place = await this.engine.read((state) =>
        scanTasks(state, from, (slot) => {
          if (isLive(state, slot) && isMeant(state, slot)) ids.push(taskIdOf(state, slot));
          return ids.length === IDS_PER_COMMAND;
        }),
      );
      sum.matched += ids.length;
      if (!dryRun && ids.length > 0) await this.cancelAndCount(ids, order, sum);
    }
    return { ...sum, dryRun };
  }

  private async cancelAndCount(
    ids: readonly string[],
    order: Order,
    sum: Cancelled,
  ): Promise<void> {
    const counts = await this.execute(ids, order, (outcomes, state) => {
      const done = outcomes.filter(({ rejection }) => rejection === undefined);
      const ended = done.filter(({ slot }) => !isLive(state, slot)).length;
      return { ended, told: done.length - ended };
    });
    sum.cancelled += counts.ended;
    sum.requested += counts.told;
  }

  private execute<T>(
    ids: readonly string[],
    { namespace, graceMs }: Order,
    render: (outcomes: Outcomes, state: ReadonlyState) => T,
  ): Promise<T> {
    const type = 'cancel_tasks';
    this.admission.command(type);
    const command = { type, namespace, ids, graceMs } as const;
    return this.engine.execute<CancelTasks, T>(command, ({ outcomes }, state) => {
      return render(outcomes, state);
    });
  }
}

/** Retries that are not in memory any more come from the archive, one by one. */
interface RetryParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly archive: Pick<TaskArchive, 'list'>;
  readonly operations: Pick<TaskOperations, 'retry'>;
}

const RETRIED_STATES = ['failed', 'timed_out', 'expired', 'cancelled'] as const;

/** Retries many tasks, by their ids or by a filter. */
export class BulkRetry {
  private readonly parts: RetryParts;

  constructor(parts: RetryParts) {
    this.parts = parts;
  }

  async run(namespace: string, request: RetryTasksRequest, by: Author): Promise<object> {
    const { ids, filter, dryRun = false } = request;
    const problem =
      (ids === undefined) === (filter === undefined)
        ? 'needs ids or a filter'
        : ids !== undefined && dryRun
          ? 'dryRun needs a filter'
          : undefined;
    if (problem !== undefined) throw invalid('the body is not valid', [{ path: '', problem }]);
    if (ids !== undefined) return { items: await this.byIds(namespace, ids, by) };
    return this.byFilter(namespace, filter ?? {}, { dryRun, by });
  }

  /** One outcome per task, in order. */
  private async byIds(namespace: string, ids: readonly string[], by: Author): Promise<Item[]> {
    const type = 'retry_tasks';
    this.parts.admission.command(type);
    const command = { type, namespace, ids } as const;
    const items = await this.parts.engine.execute<RetryTasks, Item[]>(
      command,
      ({ outcomes }, state) =>
        outcomes.map(({ rejection, slot, quota }, place) => {
          const id = ids[place];
          if (rejection !== undefined) {
            return errorItem(id, retryRefusal(id, { rejection, quota }, state));
          }
          return { id, ok: true, state: TASK_STATES[state.tasks.state[slot]] };
        }),
    );
    for (const [place, item] of items.entries()) {
      if (isUnknown(item)) items[place] = await this.fromArchive(namespace, item.id, by);
    }
    return items;
  }

  private async fromArchive(namespace: string, id: string, by: Author): Promise<Item> {
    try {
      const { json } = await this.parts.operations.retry(namespace, id, {}, by);
      const { state } = JSON.parse(json) as { state: string };
      return { id, ok: true, state };
    } catch (cause) {
      if (!(cause instanceof SluiceError)) throw cause;
      return errorItem(id, cause);
    }
  }

  /**
   * First what is in memory, slice by slice, then what only the archive has. What runs again is in
   * memory, so no task is retried twice.
   */
  private async byFilter(namespace: string, filter: TaskFilter, order: RetryOrder) {
    const sum: Retried = { matched: 0, retried: 0 };
    const isMeant = makeTaskFilter(namespace, filter);
    this.parts.admission.read();
    const { engine } = this.parts;
    let place: ScanPlace | undefined = await engine.read(scanStart);
    while (place !== undefined) {
      const ids: string[] = [];
      const from: ScanPlace = place;
      place = await engine.read((state) =>
        scanTasks(state, from, (slot) => {
          if (canRetry(state, slot) && isMeant(state, slot)) ids.push(taskIdOf(state, slot));
          return ids.length === IDS_PER_COMMAND;
        }),
      );
      await this.retryAndCount(namespace, ids, order, sum);
    }
    for (const state of RETRIED_STATES) {
      if (filter.state !== undefined && filter.state !== state) continue;
      await this.archived(namespace, { ...filter, state }, order, sum);
    }
    return { ...sum, dryRun: order.dryRun };
  }

  private async archived(
    namespace: string,
    filter: TaskFilter,
    order: RetryOrder,
    sum: Retried,
  ): Promise<void> {
    const { archive, engine } = this.parts;
    let cursor: string | undefined;
    do {
      const page = { limit: IDS_PER_COMMAND, ...(cursor === undefined ? {} : { cursor }) };
      const text = await archive.list(namespace, filter, page);
      const { items, nextCursor } = JSON.parse(text) as ListedPage;
      const ids = await engine.read((state) => {
        const isGone = (id: string) => findTask(state, namespace, id) === NO_SLOT;
        return items.flatMap(({ id, runId }) => (runId === undefined && isGone(id) ? id : []));
      });
      await this.retryAndCount(namespace, ids, order, sum);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  private async retryAndCount(
    namespace: string,
    ids: readonly string[],
    { dryRun, by }: RetryOrder,
    sum: Retried,
  ): Promise<void> {
    sum.matched += ids.length;
    if (dryRun || ids.length === 0) return;
    const outcomes = await this.byIds(namespace, ids, by);
    sum.retried += outcomes.filter((item) => 'ok' in item).length;
  }
}

interface RetryOrder {
  readonly dryRun: boolean;
  readonly by: Author;
}

interface Retried {
  matched: number;
  retried: number;
}

/** Steps are retried with their run. */
function canRetry({ tasks }: ReadonlyState, slot: Slot): boolean {
  const state = tasks.state[slot];
  return isTerminal(state) && state !== SUCCEEDED && tasks.step[slot] === 0;
}

interface ListedPage {
  readonly items: readonly { readonly id: string; readonly runId?: string }[];
  readonly nextCursor?: string | null;
}

function errorItem(id: string, { code, message }: SluiceError): Item {
  return { id, error: { code, message } };
}

type Outcomes = readonly {
  readonly rejection?: 'task_not_found' | 'task_finished';
  readonly slot: Slot;
}[];

/** The result for one of many tasks. */
type Item = { readonly id: string } & (
  | { readonly ok: boolean; readonly state?: string }
  | { readonly error: ItemError }
);

interface ItemError {
  readonly code: string;
  readonly message: string;
}

function refused(id: string, refusal: 'task_not_found' | 'task_finished') {
  const { code, message } = refusalOf(refusal, id);
  return { id, error: { code, message } };
}

function isUnknown(item: Item): boolean {
  return 'error' in item && item.error.code === 'task_not_found';
}

function isLive({ tasks }: ReadonlyState, slot: Slot): boolean {
  return !isTerminal(tasks.state[slot]);
}
