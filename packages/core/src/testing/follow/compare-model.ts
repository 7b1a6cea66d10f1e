import type { Partition } from '../../partition.ts';
import { describeDelivery, describeState, type TaskDescription } from '../describe-state.ts';
import { callbackText, textsOf } from '../model/model-bytes.ts';
import type { ModelDelivery } from '../model/model-outbox.ts';
import type { ModelTask } from '../model/model-task.ts';
import type { PartitionModel } from '../model/partition-model.ts';
import { testUtf8 } from '../test-utf8.ts';
import { agree } from './agree.ts';

/** Throws when a partition and its model differ. */
export function compareWithModel(
  { state, sessionCount }: Pick<Partition, 'state' | 'sessionCount'>,
  model: PartitionModel,
): void {
  const { tasks, finished, queues } = describeState(state);
  const found = tasks.toSorted((a, b) => a.number - b.number);
  const expected = model.tasks.toSorted((a, b) => a.number - b.number);
  agree('which tasks there are', found.map(numberOf), expected.map(numberOf));
  for (const [place, task] of found.entries()) {
    const [one, other] = [describe(task), describeModel(expected[place])];
    // The texts of both are only built where they differ.
    const isSame = Object.entries(one).every(([name, value]) => value === other[name]);
    if (!isSame) agree(`task ${task.number}`, one, other);
  }
  agree('how many bytes are held', state.heldBytes, model.heldBytes);
  for (const { name, tasks, payloadBytes, dedupeKeys } of state.namespaces.inUse()) {
    const expectedUse = { ...model.useOf(name), dedupeKeys: model.keys.countOf(name) };
    agree(`what namespace ${name} uses`, { tasks, payloadBytes, dedupeKeys }, expectedUse);
  }
  const keys = new Set([...model.tasks, ...model.outbox.all].map(({ type }) => type));
  for (const key of model.pausedQueues) keys.add(key);
  agree('queues', queues.map(({ type }) => type).sort(), [...keys].sort());
  for (const { type, dead, paused } of queues) {
    const ofType = model.dead.filter((task) => task.type === type);
    agree(`dead letters of ${type}`, dead, ofType.map(numberOf));
    agree(`whether ${type} is paused`, paused, model.pausedQueues.has(type));
  }
  agree('how many dead letters were dropped', state.deadLetters.dropped, model.dropped);
  agree(
    'redrives',
    [...state.redrives.entries()].map(([number, { nextAt }]) => [number, nextAt]),
    model.redrives.map(({ number, nextAt }) => [number, nextAt]),
  );
  agree(
    'which types are defined',
    [...state.taskTypes.keys()].sort(),
    [...model.definitions.keys()].sort(),
  );
  const owed = [...state.outbox.pending(), ...state.outbox.givenUp()];
  agree(
    'what is owed',
    owed.map((delivery) => describeDelivery(state, delivery)),
    model.outbox.all.map(describeModelDelivery),
  );
  agree('which access keys there are', [...state.accessKeys.values()], model.access.keys);
  agree('how many changes are recorded', state.audit.next - 1, model.access.records);
  agree('how many keys there are', state.dedupe.count, model.keys.count);
  agree('which tasks are finished', finished, model.finished.map(numberOf));
  agree('how many sessions there are', sessionCount, model.sessions.length);
  agree('the number of the next task', state.nextTask, model.accepted + 1);
  const live = model.idle.length + model.waiting.length + model.held.length;
  const over = model.dead.length + finished.length + model.forgotten;
  agree('what became of all tasks (I12)', live + over, model.accepted);
}

function numberOf({ number }: { readonly number: number }): number {
  return number;
}

type Compared = Record<string, unknown>;

function describe(task: TaskDescription): Compared {
  const { type, priority, state, reason, attempt, session } = task;
  const { shape, retry, timeouts, tags, callback } = task;
  const texts = { shape, retry, timeouts, tags, callback };
  const [input, result] = [task.input, task.result].map(decoded);
  const { stop, dueAt } = task;
  const dueIfWaiting = state === 'waiting' ? dueAt : null;
  const visible = { type, priority, state, reason, attempt, session };
  return { ...visible, ...texts, input, result, stop, dueAt: dueIfWaiting };
}

function describeModel(task: ModelTask): Compared {
  const { type, priority, state, reason, attempt, session = null, input, result, dueAt } = task;
  const stop = task.stop?.reason ?? '';
  const dueIfWaiting = state === 'waiting' ? dueAt : null;
  const visible = { type, priority, state, reason, attempt, session };
  return { ...visible, ...textsOf(task), input, result, stop, dueAt: dueIfWaiting };
}

function describeModelDelivery(delivery: ModelDelivery): Compared {
  const { number, task, type, state, at, tries, firstFailedAt, nextAt } = delivery;
  const callback = callbackText(delivery.callback);
  const { failure, status, givenUpAt } = delivery;
  const subject = { number, task, type, callback, state, at };
  return { ...subject, tries, firstFailedAt, nextAt, failure, status, givenUpAt };
}

/** Most payloads are short ASCII, for which calling a decoder takes longer than decoding. */
const PLAIN_BYTES_MAX = 500;

function decoded(bytes: readonly number[]): string {
  const isPlain = bytes.length <= PLAIN_BYTES_MAX && bytes.every((byte) => byte < 0x80);
  if (isPlain) return String.fromCharCode(...bytes);
  return testUtf8.decode(Uint8Array.from(bytes));
}
