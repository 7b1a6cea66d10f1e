import { expect } from 'vitest';
import { NO_SLOT, type TaskNumber } from '../ids.ts';
import type {
  CancelTasks,
  EndTask,
  PatchTasks,
  PauseTask,
  ResumeTask,
  RetryTasks,
  SignalTask,
  TaskOutcome,
} from '../task-commands.ts';
import { taskIdText } from '../task-id.ts';
import {
  cancel,
  endOutside,
  type ModelPatch,
  patch,
  pause,
  type Refusal,
  resume,
  retry,
  signal,
} from './model-operations.ts';
import { isOver, type ModelTask, namespaceOf } from './model-task.ts';
import type { PartitionModel } from './partition-model.ts';
import type { TestPartition } from './test-partition.ts';
import { joined } from './test-payloads.ts';
import { testUtf8 } from './test-utf8.ts';
import type { Action } from './world-actions.ts';

type Operate = Extract<Action, { operate: unknown }>['operate'];
type Operation = Operate['operation'];
type Patch = Extract<Operation, { patch: unknown }>['patch'][number];

/** A partition and its model. */
export interface Operated {
  readonly partition: TestPartition;
  readonly model: PartitionModel;
  /** The id of every task that ever was. */
  readonly ids: ReadonlyMap<number, string>;
  /** When the next command happens. */
  readonly time: number;
}

/** Of no task that ever was. */
const UNKNOWN_ID = taskIdText({ submittedAt: 1, partition: 0, number: 999 as TaskNumber });

/** What an operation is about: a task that the model finds, or none. */
interface Target {
  readonly id: string;
  readonly task: ModelTask | undefined;
}

/** What operators do to tasks, in the partition and in the model; answers what was met. */
export function operateOnTasks(world: Operated, { of, isForeign, operation }: Operate): string[] {
  const isBatch = 'cancel' in operation || 'retry' in operation || 'patch' in operation;
  const picked = pick(world, isBatch ? of : of.slice(0, 1), operation);
  const { type } = picked.find(({ task }) => task !== undefined)?.task ?? { type: '' };
  const namespace = isForeign ? 'foreign' : namespaceOf(type);
  world.partition.namespace = namespace;
  const targets = picked.map(({ id, task }) => ({
    id,
    task: task !== undefined && namespaceOf(task.type) === namespace ? task : undefined,
  }));

  const [refusals, outcomes] = perform(world, targets, operation);
  const { tasks } = world.partition.state;
  const slots = targets.map(({ task }) => {
    return task === undefined ? NO_SLOT : tasks.find(task.number as TaskNumber);
  });
  expect(outcomes.map(({ slot }) => slot)).toEqual(slots);
  expect(outcomes.map(({ rejection }) => rejection)).toEqual(refusals);

  const name = Object.keys(operation)[0];
  const met = refusals.map((refusal) => (refusal === undefined ? name : `${name} ${refusal}`));
  if (isForeign && picked[0].task !== undefined) met.push('foreign namespace');
  if (targets.length > 1) met.push(`${name} of many`, ...batchOf(name, targets));
  return met;
}

function batchOf(name: string, targets: readonly Target[]): string[] {
  const found = targets.filter(({ task }) => task !== undefined);
  if (found.length === 0) return [];
  const isTwice = new Set(found.map(({ id }) => id)).size < found.length;
  return [
    ...(isTwice ? [`${name} of one twice`] : []),
    ...(found.length < targets.length ? [`${name} of some unknown`] : []),
  ];
}

/** Mostly tasks to which the operation may do something. */
function pick(world: Operated, of: Operate['of'], operation: Operation): Target[] {
  const { model, ids } = world;
  const likely = [...ids.keys()].filter((number) => isLikely(world, number, operation));
  const choices = likely.length > 0 ? likely : [...ids.keys()];
  const targets: Target[] = [];
  for (const choice of of) {
    if (choice === 'again' && targets.length > 0) {
      targets.push(targets[0]);
      continue;
    }
    const number = typeof choice === 'number' ? choices[choice % choices.length] : undefined;
    const task = model.tasks.find((each) => each.number === number);
    targets.push({ id: ids.get(number ?? 0) ?? UNKNOWN_ID, task });
  }
  return targets;
}

/** Whether there is a chance that the operation does something to this task. */
function isLikely({ model }: Operated, number: number, operation: Operation): boolean {
  const task = model.tasks.find((each) => each.number === number);
  if ('pause' in operation && !operation.pause) return task?.state === 'paused';
  if ('pause' in operation) return ['waiting', 'queued', 'leased'].includes(task?.state ?? '');
  if ('retry' in operation) return task !== undefined && isOver(task);
  if ('signal' in operation) return task !== undefined && model.held.includes(task);
  return true;
}

type Outcomes = readonly TaskOutcome<string>[];

/** Answers what the model refuses and what became of each in the partition. */
function perform(
  world: Operated,
  targets: readonly Target[],
  operation: Operation,
): [Refusal[], Outcomes] {
  const { partition, model } = world;
  const now = world.time;
  const ids = targets.map(({ id }) => id);
  const [id] = ids;
  const each = (decide: (task: ModelTask, place: number) => Refusal): Refusal[] => {
    return targets.map(({ task }, place) => {
      return task === undefined ? 'task_not_found' : decide(task, place);
    });
  };
  if ('cancel' in operation) {
    const graceMs = operation.cancel;
    const refusals = each((task) => {
      return cancel(model, task, { graceMs, now, graceUntil: model.graceOf(task) });
    });
    const command = { type: 'cancel_tasks', ids, graceMs } as const;
    return [refusals, partition.operate<CancelTasks>(command).outcomes];
  }
  if ('retry' in operation) {
    const refusals = each((task) => retry(model, task, now));
    return [refusals, partition.operate<RetryTasks>({ type: 'retry_tasks', ids }).outcomes];
  }
  if ('end' in operation) {
    const outcome = operation.end as 'succeeded' | 'failed';
    const refusals = each((task) => endOutside(model, task, { outcome, payload: '"x"', now }));
    const payload = testUtf8.encode('"x"');
    return [refusals, [partition.operate<EndTask>({ type: 'end_task', id, outcome, payload })]];
  }
  if ('pause' in operation) {
    const refusals = each((task) => (operation.pause ? pause : resume)(model, task, now));
    const type = operation.pause ? 'pause_task' : 'resume_task';
    return [refusals, [partition.operate<PauseTask | ResumeTask>({ type, id })]];
  }
  if ('signal' in operation) return performSignal(world, targets[0], operation.signal);
  const patches = ids.map((_, place) =>
    patchOf(operation.patch[place % operation.patch.length], now),
  );
  return [
    each((task, place) => patch(model, task, patches[place], now)),
    sendPatches(world, ids, patches),
  ];
}

/** Times are about now, in either direction. */
function patchOf({ runAt, ...rest }: Patch, now: number): ModelPatch {
  if (runAt === undefined) return rest;
  return { ...rest, runAt: runAt === null ? null : now + runAt };
}

function sendPatches(
  { partition }: Operated,
  ids: readonly string[],
  patches: readonly ModelPatch[],
): Outcomes {
  const { bytes, ends } = joined(patches.map(({ input }) => input ?? ''));
  return partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: patches.map(({ input, ...rest }, place) => {
      return { id: ids[place], ...rest, hasInput: input !== undefined };
    }),
    inputs: bytes,
    inputEnds: ends,
  }).outcomes;
}

/** A word reaches the worker that holds the task, or nobody. */
function performSignal(
  { partition, model }: Operated,
  { id, task }: Target,
  word: { readonly name: string; readonly data: string },
): [Refusal[], Outcomes] {
  const refusal = task === undefined ? 'task_not_found' : signal(model, task, word);
  const data = testUtf8.encode(word.data);
  const reply = partition.operate<SignalTask>({ type: 'signal_task', id, name: word.name, data });
  const { number, session, lease } = task ?? {};
  const heard = refusal === undefined ? [{ session, task: number, lease, ...word }] : [];
  expect(partition.signals).toEqual(heard);
  return [[refusal], [reply]];
}
