import {
  blobOf,
  isTerminal,
  NO_ANSWER,
  nameOfAnswer,
  type Partition,
  REASONS,
  type ReadonlyState,
  type Slot,
  SUCCEEDED_ANSWER,
  statedTimeouts,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import type { AttemptView, TaskError, TaskView } from '../../task/task-view.ts';
import { UTF8 } from './payloads.ts';
import { placeInRun } from './step-outline.ts';

export function taskIdOf(state: ReadonlyState, slot: Slot): string {
  return taskIdText({
    submittedAt: state.tasks.submittedAt[slot],
    partition: state.partition,
    number: state.tasks.number[slot] as TaskNumber,
  });
}

/** A task as a client sees it. `read` returns the content of a blob. */
export function taskView(
  partition: Partition,
  slot: Slot,
  read: (blob: string) => string,
): TaskView {
  const { state } = partition;
  const { tasks } = state;
  const stateName = TASK_STATES[tasks.state[slot]];
  const isTooLate = stateName === 'cancelled' && tasks.answered[slot] === SUCCEEDED_ANSWER;
  const text = payloadText(state, tasks.result[slot], tasks.resultLength[slot]);
  const blob = blobOf(text);
  const result: unknown = JSON.parse(blob === undefined ? text : read(blob));
  const isOutput = stateName === 'succeeded';
  // The result of an earlier attempt says nothing about a task whose worker was lost later.
  const isResultOld = isTooLate || REASONS[tasks.reason[slot]] === 'worker_lost';
  return {
    id: taskIdOf(state, slot),
    type: state.typeOf(slot),
    state: stateName,
    reason: REASONS[tasks.reason[slot]],
    priority: tasks.priority[slot],
    ...policiesOf(state, slot),
    attempt: tasks.attempt[slot],
    attempts: newestAttempt(state, slot, isTooLate ? { output: result } : errorOf(state, slot)),
    submittedAt: time(tasks.submittedAt[slot]),
    runAt: stateName === 'waiting' ? time(tasks.dueAt[slot]) : null,
    endedAt: isTerminal(tasks.state[slot]) ? time(tasks.endedAt[slot]) : null,
    cancelRequestedAt: time(tasks.cancelAskedAt[slot]),
    tags: state.texts.tags.at(tasks.tags[slot]) ?? {},
    parentId: state.texts.parent.at(tasks.parent[slot]) || null,
    ...placeInRun(state, slot),
    ...inputOf(state, slot),
    output: isOutput ? result : null,
    ...(isOutput && blob !== undefined ? { outputBlob: blob } : {}),
    error: isOutput || isResultOld ? null : (result as TaskError | null),
    progress: partition.progressOf(slot) ?? null,
  };
}

/** What the task needs of a worker, and how it is retried and limited. */
function policiesOf({ tasks, texts }: ReadonlyState, slot: Slot) {
  const { resources, constraintTexts, placement } = texts.shape.at(tasks.shape[slot]);
  const { delaysMs, ...rule } = texts.retry.at(tasks.retry[slot]);
  const callback = texts.callback.at(tasks.callback[slot]);
  return {
    resources,
    constraints: constraintTexts,
    ...(placement === undefined ? {} : { placement }),
    retry: delaysMs === undefined ? rule : { ...rule, delaysMs },
    timeouts: statedTimeouts(texts.timeouts.textAt(tasks.timeouts[slot])),
    callback: callback === undefined ? null : ({ url: callback.url, on: callback.on } as Shown),
  };
}

type Shown = NonNullable<TaskView['callback']>;

/** The input, or the blob that holds it. */
export function inputOf(
  state: ReadonlyState,
  slot: Slot,
): { input: unknown } | { inputBlob: string } {
  const text = payloadText(state, state.tasks.input[slot], state.tasks.inputLength[slot]);
  const inputBlob = blobOf(text);
  return inputBlob === undefined ? { input: JSON.parse(text) as unknown } : { inputBlob };
}

/** JSON, or a reference to a blob. */
export function payloadText(state: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return 'null';
  const start = state.payloads.startOf(reference);
  return UTF8.decode(state.payloads.bytesOf(reference).subarray(start, start + length));
}

/** Reasons after which the last push did not count as an attempt. */
const UNCOUNTED: readonly string[] = ['not_arrived', 'refused', 'handed_back'];

function newestAttempt(state: ReadonlyState, slot: Slot, result: object): AttemptView[] {
  const { tasks } = state;
  if (tasks.attempt[slot] === 0 || UNCOUNTED.includes(REASONS[tasks.reason[slot]])) return [];
  const endedAt = time(tasks.endedAt[slot]);
  return [
    {
      attempt: tasks.attempt[slot],
      worker: state.holders.at(tasks.holderOf(slot)).worker,
      leasedAt: time(tasks.leasedAt[slot]),
      startedAt: time(tasks.startedAt[slot]),
      endedAt,
      outcome: endedAt === null ? null : outcomeOf(state, slot),
      ...result,
    },
  ];
}

/** Reasons that end an attempt without a report of its worker. */
const ENDS: readonly string[] = ['worker_lost', 'run_timeout', 'heartbeat_timeout'];

function outcomeOf({ tasks }: ReadonlyState, slot: Slot): string | null {
  const reason = REASONS[tasks.reason[slot]];
  if (ENDS.includes(reason)) return reason;
  const answer = tasks.answered[slot];
  if (answer !== NO_ANSWER) return nameOfAnswer(answer) ?? null;
  return isTerminal(tasks.state[slot]) ? reason : null;
}

/** The error of the attempt, if it failed. */
function errorOf(state: ReadonlyState, slot: Slot): { error?: TaskError } {
  const { tasks } = state;
  const hasFailed = nameOfAnswer(tasks.answered[slot]) === 'failed';
  if (!hasFailed || tasks.resultLength[slot] === 0) return {};
  const text = payloadText(state, tasks.result[slot], tasks.resultLength[slot]);
  return { error: JSON.parse(text) as TaskError };
}

function time(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
