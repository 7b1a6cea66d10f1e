import {
  type Callback,
  isTerminal,
  NO_ANSWER,
  nameOfAnswer,
  type Progress,
  REASONS,
  type ReadonlyState,
  type Slot,
  SUCCEEDED_ANSWER,
  statedTimeouts,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import { timeText } from '../time-text.ts';

export function taskIdOf(state: ReadonlyState, slot: Slot): string {
  return taskIdText({
    submittedAt: state.tasks.submittedAt[slot],
    partition: state.partition,
    number: state.tasks.number[slot] as TaskNumber,
  });
}

/** A task as JSON text. Payloads are spliced in as the bytes that came in. */
export function taskViewJson(state: ReadonlyState, slot: Slot, progress?: Progress): string {
  const { tasks } = state;
  const shape = state.shapes.at(tasks.shape[slot]);
  const stateName = TASK_STATES[tasks.state[slot]];
  const envelope = JSON.stringify({
    id: taskIdOf(state, slot),
    type: state.typeOf(slot),
    state: stateName,
    reason: REASONS[tasks.reason[slot]],
    priority: tasks.priority[slot],
    resources: shape.resources,
    constraints: shape.constraintTexts,
    attempt: tasks.attempt[slot],
    attempts: newestAttempt(state, slot),
    submittedAt: time(tasks.submittedAt[slot]),
    runAt: stateName === 'waiting' ? time(tasks.dueAt[slot]) : null,
    retry: state.retries.at(tasks.retry[slot]),
    timeouts: statedTimeouts(state.timeouts.textAt(tasks.timeouts[slot])),
    tags: state.tags.at(tasks.tags[slot]),
    parentId: state.parents.at(tasks.parent[slot]) || null,
    callback: shownCallback(state.callbacks.at(tasks.callback[slot])),
    cancelRequestedAt: time(tasks.cancelAskedAt[slot]),
    endedAt: isTerminal(tasks.state[slot]) ? time(tasks.endedAt[slot]) : null,
    progress: progress ?? null,
  });
  const input = payloadText(state, tasks.input[slot], tasks.inputLength[slot]);
  const result = payloadText(state, tasks.result[slot], tasks.resultLength[slot]);
  const output = stateName === 'succeeded' ? result : 'null';
  // Until a task succeeded, what it has is the error of its last attempt, if that failed.
  const error = stateName === 'succeeded' || wasTooLate(state, slot) ? 'null' : result;
  return `${envelope.slice(0, -1)},"input":${input},"output":${output},"error":${error}}`;
}

/** The worker succeeded, but the task had been cancelled: its output is the attempt's alone. */
function wasTooLate({ tasks }: ReadonlyState, slot: Slot): boolean {
  return (
    TASK_STATES[tasks.state[slot]] === 'cancelled' && tasks.answered[slot] === SUCCEEDED_ANSWER
  );
}

/** The secret is never read back. */
function shownCallback(callback: Callback | undefined): object | null {
  return callback === undefined ? null : { url: callback.url, on: callback.on };
}

/** Reasons after which the last push did not count as an attempt. */
const UNCOUNTED: readonly string[] = ['not_arrived', 'refused'];

/** Memory keeps one attempt per task. None is shown when the last push did not count as one. */
function newestAttempt(state: ReadonlyState, slot: Slot): object[] {
  const { tasks } = state;
  const reason = REASONS[tasks.reason[slot]];
  if (tasks.attempt[slot] === 0 || UNCOUNTED.includes(reason)) return [];
  const endedAt = time(tasks.endedAt[slot]);
  return [
    {
      attempt: tasks.attempt[slot],
      worker: state.holders.at(tasks.holderOf(slot)).worker,
      leasedAt: time(tasks.leasedAt[slot]),
      startedAt: time(tasks.startedAt[slot]),
      endedAt,
      outcome: endedAt === null ? null : outcomeOf(state, slot),
      ...resultOf(state, slot),
    },
  ];
}

/** Reasons that say how an attempt ended about which its worker said nothing. */
const ENDS: readonly string[] = ['worker_lost', 'handed_back', 'run_timeout', 'heartbeat_timeout'];

/** What the worker said of the end, or why there was one. */
function outcomeOf({ tasks }: ReadonlyState, slot: Slot): string | null {
  const reason = REASONS[tasks.reason[slot]];
  const isSaid = !ENDS.includes(reason) && tasks.answered[slot] !== NO_ANSWER;
  if (isSaid) return nameOfAnswer(tasks.answered[slot]);
  return ENDS.includes(reason) || isTerminal(tasks.state[slot]) ? reason : null;
}

/** Memory keeps one result: what the last attempt that ended said of it. */
function resultOf(state: ReadonlyState, slot: Slot): object {
  const { tasks } = state;
  if (tasks.resultLength[slot] === 0) return {};
  const parsed = () => JSON.parse(payloadText(state, tasks.result[slot], tasks.resultLength[slot]));
  if (wasTooLate(state, slot)) return { output: parsed() };
  return nameOfAnswer(tasks.answered[slot]) === 'failed' ? { error: parsed() } : {};
}

function payloadText(state: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return 'null';
  const start = state.payloads.startOf(reference);
  const bytes = state.payloads.bytesOf(reference);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString();
}

function time(ms: number): string | null {
  return ms === 0 ? null : timeText(ms);
}
