import {
  Branches,
  isTerminal,
  NO_ANSWER,
  nameOfAnswer,
  type Progress,
  REASONS,
  type ReadonlyState,
  referenceOf,
  runIdText,
  type Slot,
  SUCCEEDED_ANSWER,
  statedTimeouts,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import { type ShownAttempt, type ShownTask, shownJson } from '../answers/shown-task.ts';
import { programOf } from '../base/step-outline.ts';
import { UTF8 } from '../base/utf8.ts';

export function taskIdOf(state: ReadonlyState, slot: Slot): string {
  return taskIdText({
    submittedAt: state.tasks.submittedAt[slot],
    partition: state.partition,
    number: state.tasks.number[slot] as TaskNumber,
  });
}

/** A task in memory as JSON text. */
export function taskViewJson(state: ReadonlyState, slot: Slot, progress?: Progress): string {
  return shownJson(shownTask(state, slot, progress));
}

export function shownTask(state: ReadonlyState, slot: Slot, progress?: Progress): ShownTask {
  const { tasks } = state;
  return {
    id: taskIdOf(state, slot),
    type: state.typeOf(slot),
    state: TASK_STATES[tasks.state[slot]],
    reason: REASONS[tasks.reason[slot]],
    priority: tasks.priority[slot],
    shape: state.texts.shape.at(tasks.shape[slot]),
    attempt: tasks.attempt[slot],
    attempts: newestAttempt(state, slot),
    submittedAt: tasks.submittedAt[slot],
    dueAt: tasks.dueAt[slot],
    retry: state.texts.retry.at(tasks.retry[slot]),
    timeouts: statedTimeouts(state.texts.timeouts.textAt(tasks.timeouts[slot])),
    tags: state.texts.tags.at(tasks.tags[slot]),
    parentId: state.texts.parent.at(tasks.parent[slot]),
    ...stepOf(state, slot),
    callback: state.texts.callback.at(tasks.callback[slot]),
    cancelRequestedAt: tasks.cancelAskedAt[slot],
    endedAt: isTerminal(tasks.state[slot]) ? tasks.endedAt[slot] : 0,
    progress,
    input: inputText(state, slot),
    result: payloadText(state, tasks.result[slot], tasks.resultLength[slot]),
    isResultOld: wasTooLate(state, slot) || REASONS[tasks.reason[slot]] === 'worker_lost',
  };
}

/** The run and the step of a task that belongs to one. */
function stepOf(state: ReadonlyState, slot: Slot) {
  const { tasks, runs, programs, partition } = state;
  const step = tasks.step[slot] - 1;
  if (step < 0) return { runId: '', step: '' };
  const { table } = runs;
  const run = runs.steps.run[step];
  const number = table.number[run] as TaskNumber;
  const runId = runIdText({ submittedAt: table.startedAt[run], partition, number });
  const program = programOf(programs.at(table.program[run]));
  return { runId, step: referenceOf(state, program, step, new Branches(state, UTF8)) };
}

/** The worker succeeded after the task was cancelled, so the output belongs to the attempt only. */
function wasTooLate({ tasks }: ReadonlyState, slot: Slot): boolean {
  return (
    TASK_STATES[tasks.state[slot]] === 'cancelled' && tasks.answered[slot] === SUCCEEDED_ANSWER
  );
}

/** Reasons after which the last push did not count as an attempt. */
const UNCOUNTED: readonly string[] = ['not_arrived', 'refused', 'handed_back'];

/** Memory keeps one attempt per task. None is shown when the last push did not count as one. */
function newestAttempt(state: ReadonlyState, slot: Slot): ShownAttempt[] {
  const { tasks } = state;
  const reason = REASONS[tasks.reason[slot]];
  if (tasks.attempt[slot] === 0 || UNCOUNTED.includes(reason)) return [];
  const endedAt = tasks.endedAt[slot];
  return [
    {
      attempt: tasks.attempt[slot],
      worker: state.holders.at(tasks.holderOf(slot)).worker,
      leasedAt: tasks.leasedAt[slot],
      startedAt: tasks.startedAt[slot],
      endedAt,
      outcome: endedAt === 0 ? null : outcomeOf(state, slot),
      ...resultOf(state, slot),
    },
  ];
}

/** Reasons that end an attempt without a report of its worker. */
const ENDS: readonly string[] = ['worker_lost', 'run_timeout', 'heartbeat_timeout'];

/** The outcome that the worker reported, or the reason of the end. */
function outcomeOf({ tasks }: ReadonlyState, slot: Slot): string | null {
  const reason = REASONS[tasks.reason[slot]];
  const isSaid = !ENDS.includes(reason) && tasks.answered[slot] !== NO_ANSWER;
  if (isSaid) return nameOfAnswer(tasks.answered[slot]);
  return ENDS.includes(reason) || isTerminal(tasks.state[slot]) ? reason : null;
}

/** Memory keeps one result: that of the last attempt that ended. */
function resultOf(state: ReadonlyState, slot: Slot): { error: string; output: string } {
  const { tasks } = state;
  const text = payloadText(state, tasks.result[slot], tasks.resultLength[slot]);
  if (wasTooLate(state, slot)) return { error: '', output: text };
  const isFailed = nameOfAnswer(tasks.answered[slot]) === 'failed';
  return { error: isFailed ? text : '', output: '' };
}

/** The input of a task as JSON text; empty for null. */
export function inputText(state: ReadonlyState, slot: Slot): string {
  return payloadText(state, state.tasks.input[slot], state.tasks.inputLength[slot]);
}

/** Empty for null. */
export function payloadText(state: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return '';
  const start = state.payloads.startOf(reference);
  const bytes = state.payloads.bytesOf(reference);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString();
}
