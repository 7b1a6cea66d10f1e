import type { TaskRequest } from '@sluice/protocol';
import type { HistoryEntry } from '../../clients/history.ts';
import type { Operation } from '../../server/operations.ts';
import type { KeyOperation } from './key-specification.ts';
import type { Answered, Loose } from './search.ts';
import type { TaskOperation } from './task-specification.ts';

/** All operations on one task or one key. */
export interface Operations<O> {
  readonly answered: Answered<O>[];
  readonly loose: Loose<O>[];
}

type ByName<O> = Map<string, Operations<O>>;

/** Longer than any world lasts, whatever its clocks do. */
const LONG_WINDOW_MS = 3_600_000;

const KINDS: { readonly [type: string]: TaskOperation['kind'] | undefined } = {
  cancel_tasks: 'cancel',
  retry_tasks: 'retry',
  pause_task: 'pause',
  resume_task: 'resume',
  patch_tasks: 'patch',
  signal_task: 'signal',
};

/** Groups the requests and answers of clients by the task or key that they are about. */
export class ClientOperations {
  /** By task id. */
  readonly tasks: ByName<TaskOperation> = new Map();
  /** By task type and dedupe key. */
  readonly keys: ByName<KeyOperation> = new Map();

  /** The keys that each task was submitted with. */
  private readonly keysOf = new Map<string, Set<string>>();
  private readonly retries: HistoryEntry[] = [];

  add(entry: HistoryEntry): void {
    const { asked } = entry;
    if (asked.kind === 'submit') this.addSubmit(entry, asked.tasks);
    else if (asked.kind === 'get') this.addGet(entry, asked.id);
    else this.addOperation(entry, asked.operation);
  }

  /** A retry with another input changes what the key of its task stands for. */
  addRetries(): void {
    for (const entry of this.retries) {
      const { operation } = entry.asked as Extract<HistoryEntry['asked'], { kind: 'operate' }>;
      const outcomes = entry.status === 200 ? (entry.answer as Outcomes).outcomes : [];
      const change = { input: JSON.stringify(operation.input), isRetry: true, isShort: false };
      idsOf(operation).forEach((id, place) => {
        const what: KeyOperation = { ...change, id, policy: 'refuse' };
        const outcome = outcomes.at(place);
        for (const key of this.keysOf.get(id) ?? []) {
          const { answered, loose } = operationsOf(this.keys, key);
          if (mayStillHappen(entry)) loose.push({ ...entry, what });
          const isDone = outcome !== undefined && outcome.rejection === undefined;
          if (isDone) answered.push({ ...entry, what });
        }
      });
    }
  }

  private addSubmit(entry: HistoryEntry, tasks: readonly TaskRequest[]): void {
    const { status, answer } = entry;
    const items = status < 300 && status > 0 ? (answer as { items: readonly Item[] }).items : [];
    const mismatchAt = status === 409 ? placeIn(answer as Refusal) : -1;
    tasks.forEach((task, place) => {
      const item = items.at(place);
      if (item !== undefined) this.addItem(entry, item);
      if (task.dedupeKey === undefined) return;
      const key = keyOf(task);
      const claim = claimOf(task);
      const operations = operationsOf(this.keys, key);
      if (mayStillHappen(entry)) operations.loose.push({ ...entry, what: claim });
      if (item !== undefined) {
        const { id, deduplicated: isKnown } = item;
        this.keysOf.set(id, (this.keysOf.get(id) ?? new Set()).add(key));
        operations.answered.push({ ...entry, what: { ...claim, id, isKnown } });
      } else if (place === mismatchAt && !isTwice(tasks, place)) {
        operations.answered.push({ ...entry, what: { ...claim, isMismatch: true } });
      }
    });
  }

  private addItem(entry: HistoryEntry, { id, state, deduplicated }: Item): void {
    const what = deduplicated ? ({ kind: 'get', isByKey: true } as const) : NEW;
    operationsOf(this.tasks, id).answered.push({ ...entry, what: { ...what, state } });
  }

  private addGet(entry: HistoryEntry, id: string): void {
    const { status, answer } = entry;
    if (status !== 200 && status !== 404) return;
    const { state, cancelRequestedAt } = answer as Partial<View>;
    const isHeld = state === 'leased' || state === 'running';
    const asked = isHeld ? { isCancelAsked: cancelRequestedAt !== null } : {};
    const what: TaskOperation =
      state === undefined
        ? { kind: 'get', rejection: 'task_not_found' }
        : { kind: 'get', state, ...asked };
    operationsOf(this.tasks, id).answered.push({ ...entry, what });
  }

  private addOperation(entry: HistoryEntry, operation: Operation): void {
    if (operation.namespace !== 'default') return;
    const kind = kindOf(operation);
    if (kind === undefined) return;
    if (kind === 'retry' && operation.input !== undefined) this.retries.push(entry);
    const outcomes = entry.status === 200 ? (entry.answer as Outcomes).outcomes : [];
    const heard = new Map<string, TaskOperation[]>();
    idsOf(operation).forEach((id, place) => {
      const operations = operationsOf(this.tasks, id);
      if (mayStillHappen(entry)) operations.loose.push({ ...entry, what: { kind } });
      const outcome = outcomes.at(place);
      if (outcome === undefined) return;
      const { rejection, state } = outcome;
      const what = { kind, ...defined({ rejection, state }) };
      heard.set(id, [...(heard.get(id) ?? []), what]);
    });
    for (const [id, answers] of heard) {
      operationsOf(this.tasks, id).answered.push({ ...entry, what: oneStep(answers) });
    }
  }
}

const NEW = { kind: 'submit' } as const;

interface Item {
  readonly id: string;
  readonly state: string;
  readonly deduplicated: boolean;
}

interface View {
  readonly state: string;
  readonly cancelRequestedAt: string | null;
}

interface Refusal {
  readonly error: { readonly message: string };
}

interface Outcomes {
  readonly outcomes: readonly { readonly rejection?: string; readonly state?: string }[];
}

/** The client does not know whether the request was executed, or the network delivered it twice. */
function mayStillHappen({ status, isRepeated }: HistoryEntry): boolean {
  return status === 0 || status >= 500 || isRepeated;
}

function operationsOf<O>(map: ByName<O>, name: string): Operations<O> {
  let operations = map.get(name);
  if (operations === undefined) {
    operations = { answered: [], loose: [] };
    map.set(name, operations);
  }
  return operations;
}

function kindOf({ type, outcome }: Operation): TaskOperation['kind'] | undefined {
  if (type === 'end_task') return outcome === 'succeeded' ? 'complete' : 'fail';
  return KINDS[type];
}

function idsOf(operation: Operation): readonly string[] {
  if (operation.ids !== undefined) return operation.ids as readonly string[];
  if (operation.patches === undefined) return [operation.id as string];
  return (operation.patches as readonly { readonly id: string }[]).map(({ id }) => id);
}

/** A call may name a task more than once. All its effects on that task are one atomic step. */
function oneStep(answers: readonly TaskOperation[]): TaskOperation {
  const earlier = answers.slice(0, -1);
  const last = answers[answers.length - 1];
  return earlier.length === 0 ? last : { ...last, earlier };
}

function keyOf({ type, dedupeKey }: TaskRequest): string {
  return `${type} ${dedupeKey}`;
}

function claimOf(task: TaskRequest): KeyOperation {
  const { dedupeWindowMs, input = null, onDuplicate: policy = 'refuse' } = task;
  const isShort = dedupeWindowMs !== undefined && dedupeWindowMs < LONG_WINDOW_MS;
  return { input: JSON.stringify(input), isShort, policy };
}

/**
 * Whether the same submit has the key earlier in its list. Then the conflict may be with that task.
 */
function isTwice(tasks: readonly TaskRequest[], place: number): boolean {
  return tasks.slice(0, place).some((task) => keyOf(task) === keyOf(tasks[place]));
}

/** The position of the task whose key was refused. */
function placeIn({ error }: Refusal): number {
  return Number(/^\/(\d+)\//.exec(error.message)?.[1] ?? -1);
}

function defined<T extends object>(fields: T): { [K in keyof T]: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: NonNullable<T[K]> };
}
