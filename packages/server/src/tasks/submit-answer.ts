import {
  type KnownTask,
  NO_SLOT,
  type ReadonlyState,
  type Slot,
  SUCCEEDED,
  type SubmitTasksReply,
  TASK_ID_LENGTH,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  UNKNOWN_STATE,
  writeTaskId,
} from '@sluice/core';
import { REQUEST_KEY_HEADER, SluiceError } from '@sluice/protocol';
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
  if (reply.rejection === 'request_mismatch') throw otherBody(reply, state);
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

/** The answer to a request that came before, and some of whose tasks have left memory. */
export interface LateAnswer {
  /** Ids of those tasks. */
  readonly gone: readonly string[];
  /** The answer, with what records say of their states. */
  render(ends: TaskEnds): Buffer;
}

/** What records say of tasks that have left memory, by id: the numbers of their states. */
export type TaskEnds = ReadonlyMap<string, { readonly state: number }>;

/** Undefined when the states of all tasks are known. */
export function lateAnswer(
  { known, slots }: SubmitTasksReply,
  state: ReadonlyState,
  isArray: boolean,
): LateAnswer | undefined {
  if (![...(known?.values() ?? [])].some((task) => task.state === UNKNOWN_STATE)) return undefined;
  const { partition } = state;
  const items = [...(known ?? [])].map(([place, task]) => {
    const id = taskIdText({ ...task, partition });
    return { id, state: asOfNow(state, slots[place], task).state };
  });
  const gone = items.filter((each) => each.state === UNKNOWN_STATE).map(({ id }) => id);
  if (gone.length === 0) return undefined;
  return {
    gone,
    render: (ends) => {
      const shown = items.map(({ id, state }) => {
        // A task whose record retention has removed counts as succeeded: most do.
        const end = state === UNKNOWN_STATE ? (ends.get(id)?.state ?? SUCCEEDED) : state;
        return { id, state: TASK_STATES[end], deduplicated: true };
      });
      return Buffer.from(JSON.stringify(isArray ? { items: shown } : shown[0]));
    },
  };
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
  if (keys[mismatchAt] === undefined) return otherBody({ slots: [] }, { partition });
  const path = isArray ? `/${mismatchAt}/dedupeKey` : '/dedupeKey';
  const key = JSON.stringify(keys[mismatchAt]);
  const by =
    other === undefined
      ? 'by an earlier task of this request'
      : `by task ${taskIdText({ ...other, partition })}, which is ${TASK_STATES[other.state]}`;
  const problem = `${key} was used with another input ${by}`;
  return new SluiceError('dedupe_mismatch', `${path} ${problem}`, { details: [{ path, problem }] });
}

function otherBody(
  { mismatch: first }: SubmitTasksReply,
  { partition }: Pick<ReadonlyState, 'partition'>,
): SluiceError {
  const by =
    first === undefined ? '' : ` that submitted task ${taskIdText({ ...first, partition })}`;
  const path = `/${REQUEST_KEY_HEADER}`;
  const problem = `was used for a request with another body${by}`;
  return new SluiceError('dedupe_mismatch', `the header ${REQUEST_KEY_HEADER} ${problem}`, {
    details: [{ path, problem }],
  });
}

const REJECTIONS = {
  too_many_tasks: 'the server holds the maximum number of tasks',
  too_many_bytes: 'the payloads of all tasks use the maximum amount of memory',
  too_many_keys: 'the server has the maximum number of dedupe keys',
  too_many_callbacks: 'the server has the maximum number of pending callbacks',
  too_many_types: 'the server has the maximum number of task types',
} as const;
