import {
  type KnownTask,
  NO_SLOT,
  type ReadonlyState,
  type Slot,
  type SubmitTasksReply,
  TASK_ID_LENGTH,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  writeTaskId,
} from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { ByteBuilder } from '../base/byte-builder.ts';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';

const ITEM_BYTES_MAX = 96;

/**
 * The answer to a submit; throws when the submit was refused. `keys` are the dedupe keys of its
 * tasks.
 */
export function renderSubmitted(
  reply: SubmitTasksReply,
  state: ReadonlyState,
  { isArray, keys }: { readonly isArray: boolean; readonly keys: readonly (string | undefined)[] },
): Buffer {
  if (reply.rejection === 'dedupe_mismatch') throw mismatch(reply, state, { isArray, keys });
  if (reply.rejection === 'quota_exceeded') {
    const quota = reply.quota ?? 'tasksMax';
    throw quotaExceeded(quota, state.limits.quotas?.[quota]);
  }
  if (reply.rejection !== undefined) throw overloaded(REJECTIONS[reply.rejection]);
  const out = new ByteBuilder(ITEM_BYTES_MAX * reply.slots.length + 16);
  if (isArray) out.ascii('{"items":[');
  for (let i = 0; i < reply.slots.length; i++) {
    if (i > 0) out.ascii(',');
    const known = reply.known?.get(i);
    if (known === undefined) writeNew(out, state, reply.slots[i]);
    else writeSubmitted(out, state.partition, asOfNow(state, reply.slots[i], known), true);
  }
  if (isArray) out.ascii(']}');
  return out.take();
}

/** A task that was replaced may have become ready, and so be leased by the end of the command. */
function asOfNow({ tasks }: ReadonlyState, slot: Slot, known: KnownTask): KnownTask {
  return slot === NO_SLOT ? known : { ...known, state: tasks.state[slot] };
}

/** Id of the first task of an accepted submit. */
export function firstIdOf({ slots, known }: SubmitTasksReply, state: ReadonlyState): string {
  const { partition, tasks } = state;
  const first = known?.get(0);
  const submittedAt = first?.submittedAt ?? tasks.submittedAt[slots[0]];
  const number = first?.number ?? (tasks.number[slots[0]] as TaskNumber);
  return taskIdText({ submittedAt, partition, number });
}

function writeNew(out: ByteBuilder, { partition, tasks }: ReadonlyState, slot: Slot): void {
  const task = {
    number: tasks.number[slot] as TaskNumber,
    submittedAt: tasks.submittedAt[slot],
    state: tasks.state[slot],
  };
  writeSubmitted(out, partition, task, false);
}

function writeSubmitted(
  out: ByteBuilder,
  partition: number,
  { number, submittedAt, state }: KnownTask,
  deduplicated: boolean,
): void {
  out.ascii('{"id":"');
  const id = out.extend(TASK_ID_LENGTH);
  writeTaskId(id.bytes, id.at, { submittedAt, partition, number });
  out.ascii('","state":"');
  out.ascii(TASK_STATES[state]);
  out.ascii(deduplicated ? '","deduplicated":true}' : '","deduplicated":false}');
}

function mismatch(
  { mismatchAt = 0, mismatch: other }: SubmitTasksReply,
  { partition }: ReadonlyState,
  { isArray, keys }: { readonly isArray: boolean; readonly keys: readonly (string | undefined)[] },
): SluiceError {
  const path = isArray ? `/${mismatchAt}/dedupeKey` : '/dedupeKey';
  const key = JSON.stringify(keys[mismatchAt]);
  const by =
    other === undefined
      ? 'by an earlier task of this request'
      : `by task ${taskIdText({ ...other, partition })}, which is ${TASK_STATES[other.state]}`;
  const problem = `${key} was used with another input ${by}`;
  return new SluiceError('dedupe_mismatch', `${path} ${problem}`, { details: [{ path, problem }] });
}

const REJECTIONS = {
  too_many_tasks: 'the server holds the maximum number of tasks',
  too_many_bytes: 'the payloads of all tasks use the maximum amount of memory',
  too_many_keys: 'the server has the maximum number of dedupe keys',
  too_many_callbacks: 'the server has the maximum number of pending callbacks',
  too_many_types: 'the server has the maximum number of task types',
} as const;
