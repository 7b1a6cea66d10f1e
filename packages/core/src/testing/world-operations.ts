import { expect } from 'vitest';
import type {
  CancelTasks,
  DiscardDeadLetters,
  EndTask,
  PatchTasks,
  PauseTask,
  ReadmitTask,
  ResumeTask,
  RetryTasks,
  SetQueuePaused,
  StartRedrive,
} from '../task-commands.ts';
import { TASK_STATES } from '../task-state.ts';
import {
  cancel,
  endOutside,
  patch,
  pause,
  type Refusal,
  resume,
  retry,
} from './model-operations.ts';
import { isOver, keyOf, type ModelTask } from './model-task.ts';
import type { PartitionModel } from './partition-model.ts';
import type { TestPartition } from './test-partition.ts';
import { testUtf8 } from './test-utf8.ts';
import type { Action } from './world-actions.ts';

type TaskOperation = Extract<Action, { operate: unknown }>['operate'];
type QueueOperation = Extract<Action, { queue: unknown }>['queue'];
type Patch = Extract<TaskOperation['operation'], { patch: unknown }>['patch'];

/** A partition and its model. */
interface Operated {
  readonly partition: TestPartition;
  readonly model: PartitionModel;
  /** The id of every task that ever was. */
  readonly ids: ReadonlyMap<number, string>;
  /** When the next command happens. */
  readonly time: number;
}

/** There was no command. */
export const NOTHING_DONE = 'nothing done';

/** What operators do to one task, in the partition and in the model; answers what was met. */
export function operateOnTask(
  world: Operated,
  { of, isForeign, operation }: TaskOperation,
): string {
  const likely = [...world.ids].filter(([number]) => isLikely(world, number, operation));
  const choices = likely.length > 0 ? likely : [...world.ids];
  const [number, id] = choices[of % choices.length] ?? [0, 't_none'];
  const task = world.model.tasks.find((each) => each.number === number);
  const own = task?.type.startsWith('other/') ? 'other' : 'default';
  world.partition.namespace = isForeign ? 'foreign' : own;
  const found = isForeign ? undefined : task;
  const name = Object.keys(operation)[0];
  const [expected, actual] = perform(world, { id, found, operation });
  expect(actual).toBe(expected);
  if (expected === undefined) return name;
  return isForeign && task !== undefined ? 'foreign namespace' : `${name} ${expected}`;
}

/** Whether there is a chance that the operation does something to this task. */
function isLikely(
  { model }: Operated,
  number: number,
  operation: TaskOperation['operation'],
): boolean {
  const task = model.tasks.find((each) => each.number === number);
  if ('pause' in operation && !operation.pause) return task?.state === 'paused';
  if ('pause' in operation) return task?.state === 'waiting';
  if ('retry' in operation) return task !== undefined && isOver(task);
  return true;
}

interface Target {
  readonly id: string;
  readonly found: ModelTask | undefined;
  readonly operation: TaskOperation['operation'];
}

function perform(world: Operated, { id, found, operation }: Target): [Refusal, Refusal] {
  const { partition, model } = world;
  const now = world.time;
  const decided = (decide: (task: ModelTask) => Refusal): Refusal => {
    return found === undefined ? 'task_not_found' : decide(found);
  };
  if ('cancel' in operation) {
    const graceMs = operation.cancel;
    const command = { type: 'cancel_tasks', ids: [id], graceMs } as const;
    const expected = decided((task) =>
      cancel(model, task, { graceMs, now, graceUntil: model.graceOf(task) }),
    );
    return [expected, partition.operate<CancelTasks>(command).outcomes[0].rejection];
  }
  if ('retry' in operation) {
    const expected = decided((task) => retry(model, task, now));
    const { outcomes } = partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [id] });
    return [expected, outcomes[0].rejection];
  }
  if ('end' in operation) {
    const outcome = operation.end as 'succeeded' | 'failed';
    const expected = decided((task) => endOutside(model, task, { outcome, payload: '"x"', now }));
    const payload = testUtf8.encode('"x"');
    return [
      expected,
      partition.operate<EndTask>({ type: 'end_task', id, outcome, payload }).rejection,
    ];
  }
  if ('pause' in operation) {
    const expected = decided((task) => (operation.pause ? pause : resume)(model, task, now));
    const type = operation.pause ? 'pause_task' : 'resume_task';
    return [expected, partition.operate<PauseTask | ResumeTask>({ type, id }).rejection];
  }
  return performPatch(world, { id, found, patch: operation.patch });
}

function performPatch(
  world: Operated,
  target: { readonly id: string; readonly found: ModelTask | undefined; readonly patch: Patch },
): [Refusal, Refusal] {
  const { id, found } = target;
  const now = world.time;
  const { input, runAt, ...rest } = target.patch;
  const change = {
    ...rest,
    // Times are about now, in either direction.
    ...(runAt === undefined ? {} : { runAt: runAt === null ? null : now + runAt }),
  };
  const expected =
    found === undefined
      ? 'task_not_found'
      : patch(world.model, found, { ...change, ...(input === undefined ? {} : { input }) }, now);
  const bytes = testUtf8.encode(input ?? '');
  const { outcomes } = world.partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: [{ id, ...change, hasInput: input !== undefined }],
    inputs: bytes,
    inputEnds: [bytes.length],
  });
  return [expected, outcomes[0].rejection];
}

/** What operators do to a queue or to dead letters. */
export function operateOnQueue(world: Operated, action: QueueOperation): string {
  const { partition, model } = world;
  const { type, isForAll, operation, ratePerSec } = action;
  const { namespace } = partition;
  const key = keyOf(namespace, type);
  if (operation === 'pause' || operation === 'resume') {
    const paused = operation === 'pause';
    partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: type, paused });
    if (paused) model.pausedQueues.add(key);
    else model.hasRested = model.pausedQueues.delete(key);
    return `queue ${operation}`;
  }
  const scope = isForAll ? {} : { taskType: type };
  const isMeant = (other: string) => {
    return isForAll ? other.includes('/') === (namespace === 'other') : other === key;
  };
  const meant = model.dead.filter((task) => isMeant(task.type));
  if (operation === 'discard') {
    const reply = partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters', ...scope });
    expect(reply).toEqual({ discarded: meant.length, more: false });
    for (let task = model.oldestDead(isMeant); task !== undefined; ) {
      model.discard(task);
      task = model.oldestDead(isMeant);
    }
    return meant.length > 0 ? 'discarded' : 'nothing to discard';
  }
  const reply = partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec, ...scope });
  expect(reply.count).toBe(meant.length);
  const startedAt = world.time;
  model.redrives.push({ number: reply.redrive, isMeant, ratePerSec, startedAt, nextAt: startedAt });
  return 'redrive';
}

/** A task that left memory comes back, as whoever kept it knows it. */
export function readmit(world: Operated, choice: number): string {
  const { partition, model } = world;
  const task = [...model.gone.values()][choice % model.gone.size];
  if (task === undefined) return NOTHING_DONE;
  const [namespace, type] = task.type.includes('/') ? task.type.split('/') : ['default', task.type];
  partition.namespace = namespace;
  const { priority, resources, constraints, retry: policy, timeouts, tags } = task;
  const reply = partition.operate<ReadmitTask>({
    type: 'readmit_task',
    id: world.ids.get(task.number) ?? '',
    state: TASK_STATES.indexOf(task.state),
    spec: { type, priority, resources, constraints, retry: policy, timeouts, tags },
    input: testUtf8.encode(task.input),
    dedupe: 0,
  });
  model.forgetOldest();
  const refusal = task.state === 'succeeded' ? 'task_finished' : whenFull(world);
  expect(reply.rejection).toBe(refusal);
  if (refusal !== undefined) return `readmit ${refusal}`;
  model.readmit(task, world.time);
  return 'readmitted';
}

function whenFull({ model, partition }: Operated): Refusal {
  return model.tasks.length >= partition.limits.tasksMax ? 'too_many_tasks' : undefined;
}
