import {
  blobOf,
  isTerminal,
  parseCallback,
  parseRetry,
  parseShape,
  parseTags,
  REASONS,
  runIdText,
  SUCCEEDED_ANSWER,
  statedTimeouts,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
  taskTypeOf,
} from '@sluice/core';
import { type ShownTask, shownJson } from '../../answers/shown-task.ts';
import { timeText } from '../../base/time-text.ts';
import type { ChangeRecord } from '../records/change-record.ts';
import type { TaskRecord } from '../records/task-record.ts';

const PARTITION = 0;

/**
 * A task of the projection as JSON text, in the form of a task in memory, with all its attempts.
 */
export function recordJson(record: TaskRecord): string {
  return shownJson(shownRecord(record));
}

export function shownRecord(record: TaskRecord): ShownTask {
  const { number, submittedAt, state } = record;
  const isTooLate = TASK_STATES[state] === 'cancelled' && record.answer === SUCCEEDED_ANSWER;
  return {
    id: taskIdText({ submittedAt, partition: PARTITION, number: number as TaskNumber }),
    type: taskTypeOf(record.queue),
    state: TASK_STATES[state],
    reason: REASONS[record.reason],
    priority: record.priority,
    shape: parseShape(record.shape),
    attempt: record.attempt,
    attempts: record.attempts.map((attempt) => ({
      ...attempt,
      outcome: attempt.outcome === '' ? null : attempt.outcome,
    })),
    submittedAt,
    dueAt: record.dueAt,
    retry: parseRetry(record.retry),
    timeouts: statedTimeouts(record.timeouts),
    tags: parseTags(record.tags),
    parentId: record.parent,
    ...stepOf(record),
    callback: parseCallback(record.callback),
    cancelRequestedAt: record.cancelAskedAt,
    endedAt: isTerminal(state) ? record.endedAt : 0,
    progress: undefined,
    input: record.input,
    result: record.result,
    isResultOld: isTooLate || REASONS[record.reason] === 'worker_lost',
  };
}

function stepOf({ step }: TaskRecord) {
  if (step === undefined) return { runId: '', step: '' };
  const [run, submittedAt, reference] = step;
  const number = run as TaskNumber;
  return { runId: runIdText({ submittedAt, partition: PARTITION, number }), step: reference };
}

/** Every change of a task as JSON text, oldest first. */
export function historyJson({ changes }: TaskRecord): string {
  return `{"items":[${changes.map(changeJson).join(',')}]}`;
}

function changeJson([at, from, to, reason, attempt, worker, inputBefore]: ChangeRecord): string {
  const json = JSON.stringify({
    at: timeText(at),
    from: from < 0 ? null : TASK_STATES[from],
    to: TASK_STATES[to],
    reason: REASONS[reason],
    attempt,
    worker: worker || null,
  });
  if (inputBefore === undefined) return json;
  const blob = blobOf(inputBefore);
  const before =
    blob === undefined
      ? `"inputBefore":${inputBefore || 'null'}`
      : `"inputBlobBefore":${JSON.stringify(blob)}`;
  return `${json.slice(0, -1)},${before}}`;
}
