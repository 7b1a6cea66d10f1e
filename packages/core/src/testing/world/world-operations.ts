import type { TaskNumber } from '../../base/ids.ts';
import { taskIdText } from '../../base/task-id.ts';
import type { CancelTasks } from '../../commands/tasks/cancel-tasks.ts';
import type { NewInput } from '../../commands/tasks/change-input.ts';
import type { EndTask } from '../../commands/tasks/end-task.ts';
import type { PatchTasks } from '../../commands/tasks/patch-tasks.ts';
import type { PauseTask, ResumeTask } from '../../commands/tasks/pause-tasks.ts';
import type { RetryTasks } from '../../commands/tasks/retry-tasks.ts';
import type { SignalTask } from '../../commands/tasks/signal-task.ts';
import { isOver, namespaceOf } from '../model/model-task.ts';
import type { PartitionModel } from '../model/partition-model.ts';
import type { TestPartition } from '../test-partition.ts';
import { hashWords, joined } from '../test-payloads.ts';
import { testUtf8 } from '../test-utf8.ts';
import type { Action } from './world-actions.ts';

type Operate = Extract<Action, { operate: unknown }>['operate'];
type Operation = Operate['operation'];
type Patch = Extract<Operation, { patch: unknown }>['patch'][number];

/** A partition, and the model that follows it. */
export interface Operated {
  readonly partition: TestPartition;
  readonly model: PartitionModel;
  /** The ids of all tasks so far. */
  readonly ids: ReadonlyMap<number, string>;
}

/** An id that no task has. */
const UNKNOWN_ID = taskIdText({ submittedAt: 1, partition: 0, number: 999 as TaskNumber });

/** Operations on tasks. */
export function operateOnTasks(world: Operated, { of, isForeign, operation }: Operate): void {
  const isBatch = 'cancel' in operation || 'retry' in operation || 'patch' in operation;
  const numbers = pick(world, isBatch ? of : of.slice(0, 1), operation);
  const { type } = world.model.tasks.find(({ number }) => numbers.includes(number)) ?? { type: '' };
  world.partition.namespace = isForeign ? 'foreign' : namespaceOf(type);
  perform(
    world.partition,
    numbers.map((number) => world.ids.get(number) ?? UNKNOWN_ID),
    operation,
  );
}

/** Picks mostly tasks that the operation may affect; 0 stands for none. */
function pick(world: Operated, of: Operate['of'], operation: Operation): number[] {
  const numbers = [...world.ids.keys()];
  const likely = numbers.filter((number) => isLikely(world, number, operation));
  const choices = likely.length > 0 ? likely : numbers;
  const picked: number[] = [];
  for (const choice of of) {
    if (choice === 'again') picked.push(picked[0] ?? 0);
    else picked.push(choice === 'unknown' ? 0 : (choices[choice % choices.length] ?? 0));
  }
  return picked;
}

/** Whether the operation may affect this task. */
function isLikely({ model }: Operated, number: number, operation: Operation): boolean {
  const task = model.tasks.find((each) => each.number === number);
  if ('pause' in operation && !operation.pause) return task?.state === 'paused';
  if ('pause' in operation) return ['waiting', 'queued', 'leased'].includes(task?.state ?? '');
  if ('retry' in operation) return task !== undefined && isOver(task);
  if ('signal' in operation) return task !== undefined && model.held.includes(task);
  return true;
}

function perform(partition: TestPartition, ids: readonly string[], operation: Operation): void {
  const [id] = ids;
  if ('cancel' in operation) {
    partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: operation.cancel });
  } else if ('retry' in operation) {
    const { retry } = operation;
    const input = retry === null ? {} : { input: newInput(retry) };
    partition.operate<RetryTasks>({ type: 'retry_tasks', ids, ...input });
  } else if ('end' in operation) {
    const outcome = operation.end as 'succeeded' | 'failed';
    partition.operate<EndTask>({ type: 'end_task', id, outcome, payload: testUtf8.encode('"x"') });
  } else if ('pause' in operation) {
    const type = operation.pause ? 'pause_task' : 'resume_task';
    partition.operate<PauseTask | ResumeTask>({ type, id });
  } else if ('signal' in operation) {
    const { name, data } = operation.signal;
    partition.operate<SignalTask>({ type: 'signal_task', id, name, data: testUtf8.encode(data) });
  } else {
    const list = operation.patch;
    const patches = ids.map((_, place) => list[place % list.length]);
    sendPatches(partition, ids, patches);
  }
}

export function newInput({ input, hash }: { input: string; hash: number }): NewInput {
  return { bytes: testUtf8.encode(input), words: hashWords(hash) };
}

function sendPatches(
  partition: TestPartition,
  ids: readonly string[],
  patches: readonly Patch[],
): void {
  const { bytes, ends } = joined(patches.map(({ input }) => input ?? ''));
  const now = Math.max(partition.now, partition.state.now);
  partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: patches.map(({ input, runAt, ...rest }, place) => ({
      id: ids[place],
      ...rest,
      // Times close to now, in either direction.
      ...(runAt === undefined ? {} : { runAt: runAt === null ? null : now + runAt }),
      hasInput: input !== undefined,
    })),
    inputs: bytes,
    inputEnds: ends,
  });
}
