import { expect } from 'vitest';
import type { ReadmitTask } from '../../commands/tasks/readmit-task.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { namespaceOf, typeOf } from '../model/model-task.ts';
import { hashWords } from '../test-payloads.ts';
import { testUtf8 } from '../test-utf8.ts';
import type { Action } from './world-actions.ts';
import type { Operated } from './world-operations.ts';

type Readmission = Extract<Action, { readmit: unknown }>['readmit'];

/** What the projection knows about tasks that left memory. */
interface Keeper extends Operated {
  /** Value of the `dedupe` column of each task. */
  readonly keyEntries: ReadonlyMap<number, number>;
}

/** A task that left memory comes back as it was recorded, sometimes with another input. */
export function readmit(world: Keeper, { of, isKeyed, isInMemory, changed }: Readmission): void {
  const { model, partition, ids, keyEntries } = world;
  const gone = isInMemory ? model.tasks : [...model.gone.values()];
  const keyed = gone.filter(({ number }) => isKeyed && model.keys.isHeldBy(number));
  const choices = keyed.length > 0 ? keyed : gone;
  const task = choices[of % choices.length];
  if (task === undefined) return;
  const { number, priority, resources, constraints, retry, timeouts, tags, callback } = task;
  partition.namespace = namespaceOf(task.type);
  const policy = {
    ...(retry === undefined ? {} : { retry }),
    ...(callback === undefined ? {} : { callback }),
  };
  const { rejection, slot } = partition.operate<ReadmitTask>({
    type: 'readmit_task',
    id: ids.get(number) ?? '',
    state: TASK_STATES.indexOf(task.state),
    spec: { type: typeOf(task.type), priority, resources, constraints, timeouts, tags, ...policy },
    input: testUtf8.encode(changed?.input ?? task.input),
    ...(changed === null ? {} : { changedWords: hashWords(changed.hash) }),
  });
  if (rejection !== undefined) return;
  const entry = model.keys.isHeldBy(number) ? keyEntries.get(number) : 0;
  expect(partition.state.tasks.dedupe[slot]).toBe(entry);
}
