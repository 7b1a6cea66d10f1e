import { expect } from 'vitest';
import type { ReadmitTask, ReadmitTaskReply } from '../task-commands.ts';
import { TASK_STATES } from '../task-state.ts';
import { bytesOf } from './model-bytes.ts';
import type { Refusal } from './model-operations.ts';
import { type ModelTask, namespaceOf, typeOf } from './model-task.ts';
import { testUtf8 } from './test-utf8.ts';
import type { Action } from './world-actions.ts';
import type { Operated } from './world-operations.ts';

type Readmission = Extract<Action, { readmit: unknown }>['readmit'];

/** What whoever keeps tasks that left memory knows of them. */
interface Keeper extends Operated {
  /** What the column said of the dedupe key of each task. */
  readonly keyEntries: ReadonlyMap<number, number>;
}

/** A task that left memory comes back, as whoever kept it knows it; answers what was met. */
export function readmit(world: Keeper, { of, isKeyed, isInMemory }: Readmission): string[] {
  const { model } = world;
  const gone = isInMemory ? model.tasks : [...model.gone.values()];
  const keyed = gone.filter(({ number }) => isKeyed && model.keys.isHeldBy(number));
  const choices = keyed.length > 0 ? keyed : gone;
  const task = choices[of % choices.length];
  if (task === undefined) return [];
  const { rejection, slot } = send(world, task);
  const refusal = refusalOf(world, task);
  expect(rejection).toBe(refusal);
  if (refusal !== undefined) return [`readmit ${refusal}`];

  model.readmit(task, world.time);
  const hasKey = model.keys.isHeldBy(task.number);
  const entry = hasKey ? world.keyEntries.get(task.number) : 0;
  expect(world.partition.state.tasks.dedupe[slot]).toBe(entry);
  return [hasKey ? 'readmitted with its key' : 'readmitted'];
}

function send(world: Keeper, task: ModelTask): ReadmitTaskReply {
  const { partition, ids, keyEntries } = world;
  partition.namespace = namespaceOf(task.type);
  const { priority, resources, constraints, retry, timeouts, tags } = task;
  return partition.operate<ReadmitTask>({
    type: 'readmit_task',
    id: ids.get(task.number) ?? '',
    state: TASK_STATES.indexOf(task.state),
    spec: { type: typeOf(task.type), priority, resources, constraints, retry, timeouts, tags },
    input: testUtf8.encode(task.input),
    dedupe: keyEntries.get(task.number) ?? 0,
  });
}

function refusalOf({ model }: Operated, task: ModelTask): Refusal {
  const bytes = bytesOf(task.input);
  model.forgetOldest(bytes);
  const { tasksMax, payloadBytesMax } = model.limits;
  if (model.tasks.includes(task)) return 'task_not_found';
  if (task.state === 'succeeded') return 'task_finished';
  if (model.tasks.length >= tasksMax) return 'too_many_tasks';
  return model.heldBytes + bytes > payloadBytesMax ? 'too_many_bytes' : undefined;
}
