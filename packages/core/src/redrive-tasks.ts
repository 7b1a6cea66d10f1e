import { audit } from './decide-access.ts';
import type { Decision } from './decision.ts';
import { NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import { queueKey } from './queue-key.ts';
import type { Redrive } from './redrives.ts';
import { retry } from './retry-tasks.ts';
import type { ReadonlyState } from './state.ts';
import type {
  DiscardDeadLetters,
  DiscardDeadLettersReply,
  EndRedrive,
  EndRedriveReply,
  StartRedrive,
  StartRedriveReply,
} from './task-commands.ts';
import { isDead } from './task-state.ts';

/** Each costs a look whenever time advances. */
const REDRIVES_MAX = 100;

const DISCARDS_PER_COMMAND = 1000;

/** More than a command can add. */
const DROPS_PER_COMMAND = 10_000;

export function decideStartRedrive(decision: Decision, command: StartRedrive): StartRedriveReply {
  const { state, emit, events } = decision;
  if (command.tasks !== undefined) return redriveAtOnce(decision, command, command.tasks);
  if (state.redrives.size >= REDRIVES_MAX) {
    return { rejection: 'too_many_redrives', redrive: 0, count: 0 };
  }
  const event = events.redriveStarted;
  event.redrive = state.redrives.next;
  event.namespace = command.namespace;
  event.taskType =
    command.taskType === undefined ? '' : queueKey(command.namespace, command.taskType);
  event.ratePer1000Sec = Math.max(1, Math.round(command.ratePerSec * 1000));
  emit(event);
  audit(decision, command.by, { namespace: command.namespace, action: 'redrive_started' });
  return { redrive: event.redrive, count: countDead(state, event) };
}

function redriveAtOnce(
  decision: Decision,
  { namespace, by }: StartRedrive,
  tasks: readonly number[],
): StartRedriveReply {
  const slots = deadAmong(decision.state, namespace, tasks);
  if (slots.length > 0) audit(decision, by, { namespace, action: 'redrive_started' });
  for (const slot of slots) retry(decision, slot, 0);
  return { redrive: 0, count: slots.length };
}

/** Those of the tasks that are dead letters of the namespace, each once. */
function deadAmong(state: ReadonlyState, namespace: string, tasks: readonly number[]): Slot[] {
  return [...new Set(tasks)].flatMap((number) => {
    const slot = state.tasks.find(number as TaskNumber);
    const isDeadLetter =
      slot !== NO_SLOT && isDead(state.tasks.state[slot]) && state.tasks.isDiscarded[slot] === 0;
    if (!isDeadLetter) return [];
    return state.queues[state.tasks.queue[slot]].namespace === namespace ? [slot] : [];
  });
}

export function decideEndRedrive(decision: Decision, command: EndRedrive): EndRedriveReply {
  const { state, emit, events } = decision;
  if (state.redrives.get(command.redrive)?.namespace !== command.namespace) {
    return { found: false };
  }
  events.redriveEnded.redrive = command.redrive;
  emit(events.redriveEnded);
  audit(decision, command.by, { namespace: command.namespace, action: 'redrive_ended' });
  return { found: true };
}

export function decideDiscardDeadLetters(
  decision: Decision,
  command: DiscardDeadLetters,
): DiscardDeadLettersReply {
  const { namespace, taskType } = command;
  if (command.tasks !== undefined) return discardThese(decision, command, command.tasks);
  const scope = {
    namespace,
    taskType: taskType === undefined ? '' : queueKey(namespace, taskType),
  };
  if (oldestDead(decision.state, scope) !== NO_SLOT) {
    audit(decision, command.by, { namespace, action: 'dead_letters_discarded' });
  }
  for (let discarded = 0; discarded < DISCARDS_PER_COMMAND; discarded++) {
    const slot = oldestDead(decision.state, scope);
    if (slot === NO_SLOT) return { discarded, more: false };
    drop(decision, slot, false);
  }
  return { discarded: DISCARDS_PER_COMMAND, more: true };
}

function discardThese(
  decision: Decision,
  { namespace, by }: DiscardDeadLetters,
  tasks: readonly number[],
): DiscardDeadLettersReply {
  const slots = deadAmong(decision.state, namespace, tasks);
  if (slots.length > 0) audit(decision, by, { namespace, action: 'dead_letters_discarded' });
  for (const slot of slots) drop(decision, slot, false);
  return { discarded: slots.length, more: false };
}

/** Keeps dead letters within their bound (L9), a few per command: the oldest go first. */
export function dropOverflow(decision: Decision): void {
  const { deadLetters, limits } = decision.state;
  for (let dropped = 0; dropped < DROPS_PER_COMMAND; dropped++) {
    if (deadLetters.count <= limits.deadLettersMax) return;
    dropOldest(decision);
  }
}

/** Answers whether there was one. */
export function dropOldest(decision: Decision): boolean {
  const slot = oldestOfAll(decision.state);
  if (slot !== NO_SLOT) drop(decision, slot, true);
  return slot !== NO_SLOT;
}

/** Runs the dead letters again whose time has come, `most` of them; answers how many. */
export function redriveDue(decision: Decision, most: number): number {
  const { state, emit, events, now } = decision;
  let redriven = 0;
  for (const [number, redrive] of [...state.redrives.entries()]) {
    while (redrive.nextAt <= now && redriven < most) {
      const slot = oldestDead(state, redrive);
      if (slot === NO_SLOT || state.tasks.endedAt[slot] > redrive.startedAt) {
        events.redriveEnded.redrive = number;
        emit(events.redriveEnded);
        break;
      }
      retry(decision, slot, number);
      redriven += 1;
    }
  }
  return redriven;
}

type Scope = Pick<Redrive, 'namespace' | 'taskType'>;

/** The dead letter of the scope that ended first. */
function oldestDead(state: ReadonlyState, { namespace, taskType }: Scope): Slot {
  if (taskType === '') return state.deadLetters.firstOfNamespace(namespace);
  const queue = state.queueOf(taskType);
  return queue === undefined ? NO_SLOT : state.deadLetters.firstOfQueue(queue.index);
}

function countDead(state: ReadonlyState, { namespace, taskType }: Scope): number {
  if (taskType === '') return state.deadLetters.countOfNamespace(namespace);
  const queue = state.queueOf(taskType);
  return queue === undefined ? 0 : state.deadLetters.countOfQueue(queue.index);
}

/** Of all namespaces; of two that ended together the one submitted first. */
function oldestOfAll({ tasks, deadLetters }: ReadonlyState): Slot {
  const { endedAt, number } = tasks;
  let oldest: Slot = NO_SLOT;
  for (const namespace of deadLetters.namespaces()) {
    const slot = deadLetters.firstOfNamespace(namespace);
    const lead = oldest === NO_SLOT ? -1 : endedAt[slot] - endedAt[oldest];
    if (lead < 0 || (lead === 0 && number[slot] < number[oldest])) oldest = slot;
  }
  return oldest;
}

function drop({ state, emit, events }: Decision, slot: Slot, isOverflow: boolean): void {
  events.deadLetterDropped.slot = slot;
  events.deadLetterDropped.task = state.tasks.number[slot] as TaskNumber;
  events.deadLetterDropped.isOverflow = isOverflow;
  emit(events.deadLetterDropped);
}
