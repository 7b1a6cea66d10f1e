import { parseTaskId } from '../../base/task-id.ts';
import type { TaskCommand } from '../../commands/commands.ts';
import type { DiscardDeadLetters } from '../../commands/dead-letters/discard-dead-letters.ts';
import type {
  EndRedrive,
  StartRedrive,
  StartRedriveReply,
} from '../../commands/dead-letters/redrive-tasks.ts';
import type { PutTaskType } from '../../commands/queues/put-task-type.ts';
import type { SetQueuePaused } from '../../commands/queues/set-queue-paused.ts';
import type { CancelTasks } from '../../commands/tasks/cancel-tasks.ts';
import type { EndTask } from '../../commands/tasks/end-task.ts';
import type { PatchTasks } from '../../commands/tasks/patch-tasks.ts';
import type { ReadmitTask } from '../../commands/tasks/readmit-task.ts';
import type { RetryTasks } from '../../commands/tasks/retry-tasks.ts';
import type { SignalTask } from '../../commands/tasks/signal-task.ts';
import { bytesOf } from '../model/model-bytes.ts';
import {
  cancel,
  endOutside,
  patch,
  pause,
  type Refusal,
  resume,
  retry,
  signal,
} from '../model/model-operations.ts';
import { keyOf, type ModelTask, namespaceOf } from '../model/model-task.ts';
import type { PartitionModel } from '../model/partition-model.ts';
import { payloadAt } from '../test-payloads.ts';
import { testUtf8 } from '../test-utf8.ts';
import { agree } from './agree.ts';
import type { Carried } from './carried-command.ts';

type CarriedOf<C extends TaskCommand> = Carried & { readonly command: C };

const REDRIVES_MAX = 100;

/** Applies an operator's command to the model; returns what was covered. */
export function followOperation(
  model: PartitionModel,
  carried: CarriedOf<TaskCommand>,
): readonly string[] {
  const { at } = carried;
  const command: TaskCommand = carried.command;
  switch (command.type) {
    case 'cancel_tasks':
      return each(model, carried, command.ids, cancelOne(model, command, at));
    case 'retry_tasks':
      return retryTasks(model, { ...carried, command });
    case 'patch_tasks':
      return patchTasks(model, { ...carried, command });
    case 'pause_task':
      return each(model, carried, [command.id], (task) => pause(model, task, at));
    case 'resume_task':
      return each(model, carried, [command.id], (task) => resume(model, task, at));
    case 'end_task':
      return each(model, carried, [command.id], endOne(model, command, at));
    case 'signal_task':
      return signalTask(model, { ...carried, command });
    case 'readmit_task':
      return readmit(model, { ...carried, command });
    case 'set_queue_paused':
      return setQueuePaused(model, command);
    case 'put_task_type':
      return defineType(model, { ...carried, command });
    case 'start_redrive':
      return startRedrive(model, { ...carried, command });
    case 'end_redrive':
      return endRedrive(model, { ...carried, command });
    case 'discard_dead_letters':
      return discard(model, { ...carried, command });
  }
}

/** Decides on a task that was found; returns the refusal. */
type Decide = (task: ModelTask, place: number) => Refusal;

/** Decides on each task in order and compares the outcomes. */
function each(
  model: PartitionModel,
  { command, outcomes }: CarriedOf<TaskCommand>,
  ids: readonly string[],
  decide: Decide,
): string[] {
  const targets = ids.map((id) => find(model, id, command.namespace));
  const refusals = targets.map((task, place) => {
    return task === undefined ? 'task_not_found' : decide(task, place);
  });
  const expected = targets.map((task, place) => {
    return { rejection: refusals[place], task: task?.number };
  });
  agree(`what became of ${command.type}`, outcomes, expected);
  const name = command.type.split('_')[0];
  const met = refusals.map((refusal) => (refusal === undefined ? name : `${name} ${refusal}`));
  const isForeign = targets.every((task) => task === undefined) && isElsewhere(model, ids);
  if (isForeign) met.push('foreign namespace');
  return targets.length > 1 ? [...met, ...batchOf(name, targets)] : met;
}

function batchOf(name: string, targets: readonly (ModelTask | undefined)[]): string[] {
  const found = targets.filter((task) => task !== undefined);
  if (found.length === 0) return [];
  return [
    ...(new Set(found).size < found.length ? [`${name} of one twice`] : []),
    ...(found.length < targets.length ? [`${name} of some unknown`] : []),
  ];
}

function find(model: PartitionModel, id: string, namespace: string): ModelTask | undefined {
  const task = findAnywhere(model, id);
  return task !== undefined && namespaceOf(task.type) === namespace ? task : undefined;
}

function findAnywhere(model: PartitionModel, id: string): ModelTask | undefined {
  const { number, submittedAt } = parseTaskId(id) ?? {};
  return model.tasks.find((task) => task.number === number && task.submittedAt === submittedAt);
}

function isElsewhere(model: PartitionModel, ids: readonly string[]): boolean {
  return ids.some((id) => findAnywhere(model, id) !== undefined);
}

function cancelOne(model: PartitionModel, { graceMs }: CancelTasks, now: number): Decide {
  return (task) => cancel(model, task, { graceMs, now, graceUntil: model.graceOf(task) });
}

function endOne(model: PartitionModel, { outcome, payload }: EndTask, now: number): Decide {
  return (task) => endOutside(model, task, { outcome, payload: testUtf8.decode(payload), now });
}

function patchTasks(model: PartitionModel, carried: CarriedOf<PatchTasks>): string[] {
  const { command, at } = carried;
  const ids = command.patches.map(({ id }) => id);
  return each(model, carried, ids, (task, place) => {
    const { hasInput = false, id: _, ...change } = command.patches[place];
    const input = hasInput ? payloadAt(command.inputs, command.inputEnds, place) : undefined;
    return patch(model, task, { ...change, ...(input === undefined ? {} : { input }) }, at);
  });
}

function retryTasks(model: PartitionModel, carried: CarriedOf<RetryTasks>): string[] {
  const { command, at, outcomes } = carried;
  const { input } = command;
  const met = each(model, carried, command.ids, (task) => {
    if (input === undefined) return retry(model, task, at);
    const refusal = retry(model, task, at, testUtf8.decode(input.bytes));
    if (refusal === undefined) model.keys.changeInput(task.number, input.words.join());
    return refusal;
  });
  if (input === undefined) return met;
  const isChange = outcomes.some(({ rejection }) => rejection === undefined);
  model.access.changed(isChange, command);
  return isChange ? [...met, 'retry with another input'] : met;
}

/** A signal reaches the worker that runs the task, or no worker. */
function signalTask(model: PartitionModel, carried: CarriedOf<SignalTask>): string[] {
  const { command, signals } = carried;
  const word = { name: command.name, data: testUtf8.decode(command.data) };
  const heard: unknown[] = [];
  const met = each(model, carried, [command.id], (task) => {
    const refusal = signal(model, task, word);
    const { session, number, lease } = task;
    if (refusal === undefined) heard.push({ session, task: number, lease, ...word });
    return refusal;
  });
  agree('the words that are sent', signals, heard);
  return met;
}

/** A task that left memory comes back as it was recorded. */
function readmit(model: PartitionModel, carried: CarriedOf<ReadmitTask>): string[] {
  const { command, outcomes, at } = carried;
  const { number } = parseTaskId(command.id) ?? {};
  // Making room comes first, and may remove the task itself from memory.
  model.forgetOldest(command.input.length);
  const task = model.gone.get(number ?? 0);
  const input = testUtf8.decode(command.input);
  const refusal = whyNotReadmitted(model, task, input);
  agree('why a task is not readmitted', outcomes[0]?.rejection, refusal);
  if (refusal !== undefined || task === undefined) return [`readmit ${refusal}`];
  model.readmit(Object.assign(task, { input }), at);
  const { changedWords } = command;
  if (changedWords !== undefined) model.keys.changeInput(task.number, changedWords.join());
  model.access.changed(changedWords !== undefined, command);
  return [model.keys.isHeldBy(task.number) ? 'readmitted with its key' : 'readmitted'];
}

function whyNotReadmitted(
  model: PartitionModel,
  task: ModelTask | undefined,
  input: string,
): Refusal {
  const { tasksMax, payloadBytesMax } = model.limits;
  if (task === undefined) return 'task_not_found';
  if (task.state === 'succeeded') return 'task_finished';
  if (model.tasks.length >= tasksMax) return 'too_many_tasks';
  if (model.heldBytes + bytesOf(input) > payloadBytesMax) return 'too_many_bytes';
  return model.isOverQuota(task, input) ? 'quota_exceeded' : undefined;
}

function setQueuePaused(model: PartitionModel, command: SetQueuePaused): string[] {
  const { namespace, taskType, paused } = command;
  const key = keyOf(namespace, taskType);
  model.access.changed(model.pausedQueues.has(key) !== paused, command);
  if (paused) model.pausedQueues.add(key);
  else model.pausedQueues.delete(key);
  return [paused ? 'queue pause' : 'queue resume'];
}

/** Sets or removes the defaults of a task type. */
function defineType(model: PartitionModel, { command, reply }: CarriedOf<PutTaskType>): string[] {
  const key = keyOf(command.namespace, command.taskType);
  const existed = model.definitions.has(key);
  agree('whether a type was defined', reply, { existed });
  const [before, after] = [model.definitions.get(key), command.definition];
  model.access.changed(JSON.stringify(before) !== JSON.stringify(after), command);
  if (command.definition === undefined) {
    model.definitions.delete(key);
    return [existed ? 'type removed' : 'no type to remove'];
  }
  model.definitions.set(key, command.definition);
  return [existed ? 'type defined again' : 'type defined'];
}

/** Selects the dead letters of the command. */
function scopeOf({ namespace, taskType }: DiscardDeadLetters | StartRedrive) {
  if (taskType === undefined) return (type: string) => namespaceOf(type) === namespace;
  return (type: string) => type === keyOf(namespace, taskType);
}

function startRedrive(model: PartitionModel, carried: CarriedOf<StartRedrive>): string[] {
  const { command, at } = carried;
  const { rejection, redrive, count } = carried.reply as StartRedriveReply;
  const refusal = model.redrives.length >= REDRIVES_MAX ? 'too_many_redrives' : undefined;
  agree('why a redrive is refused', rejection, refusal);
  if (refusal !== undefined) return [refusal];
  const isMeant = scopeOf(command);
  const meant = model.dead.filter((task) => isMeant(task.type));
  agree('how many are redriven', count, meant.length);
  const { namespace, ratePerSec } = command;
  const times = { startedAt: at, nextAt: at };
  model.access.changed(true, command);
  model.redrives.push({ number: redrive, namespace, isMeant, ratePerSec, ...times });
  return ['redrive'];
}

function endRedrive(model: PartitionModel, { command, reply }: CarriedOf<EndRedrive>): string[] {
  const place = model.redrives.findIndex(({ number }) => number === command.redrive);
  const isFound = model.redrives[place]?.namespace === command.namespace;
  agree('whether a redrive was found', reply, { found: isFound });
  if (place < 0) return ['end redrive of none'];
  if (!isFound) return ['end redrive of another namespace'];
  model.redrives.splice(place, 1);
  model.access.changed(true, command);
  return ['redrive ended'];
}

function discard(
  model: PartitionModel,
  { command, reply }: CarriedOf<DiscardDeadLetters>,
): string[] {
  const isMeant = scopeOf(command);
  const meant = model.dead.filter((task) => isMeant(task.type));
  agree('what is discarded', reply, { discarded: meant.length, more: false });
  // In order, because they are later forgotten in the order in which they died.
  for (const task of meant) model.discard(task);
  model.access.changed(meant.length > 0, command);
  return [meant.length > 0 ? 'discarded' : 'nothing to discard'];
}
