import {
  parseTags,
  RUN_REASONS,
  RUN_RELATIONS,
  RUN_STATES,
  runIdText,
  STEP_STATES,
  type TaskNumber,
  taskIdText,
  taskTypeOf,
} from '@sluice/core';
import {
  type RunSource,
  type ShownStep,
  stepOfTask,
  stepWithoutTask,
} from '../answers/shown-run.ts';
import type { TaskRecord } from './records/task-record.ts';
import { shownRecord } from './rows/record-view.ts';
import type { RunRecord, StepRecord } from './runs/run-record.ts';

const PARTITION = 0;

/** A run of the projection. The rows of its tasks are read when their steps are shown. */
export function runRecordSource(
  record: RunRecord,
  taskOf: (number: number) => TaskRecord | undefined,
): RunSource {
  return {
    run: {
      id: idOf(runIdText, record.number, record.submittedAt),
      workflow: taskTypeOf(record.queue),
      version: record.version,
      state: RUN_STATES[record.runState],
      outcome: RUN_STATES[record.outcome],
      reason: RUN_REASONS[record.reason],
      priority: record.priority,
      correlation: record.parent,
      parent: parentOf(record),
      tags: parseTags(record.tags),
      startedAt: record.submittedAt,
      endedAt: record.endedAt,
      variables: record.variables,
      input: record.input,
      result: record.result,
    },
    steps: record.steps.length,
    stateAt: (place) => STEP_STATES[record.steps[place].state],
    stepAt: (place) => shownStep(record.steps[place], taskOf),
  };
}

function shownStep(
  step: StepRecord,
  taskOf: (number: number) => TaskRecord | undefined,
): ShownStep {
  const { reference, kind: type, name } = step;
  const state = STEP_STATES[step.state];
  const of = { reference, type, name, state, reason: RUN_REASONS[step.reason] };
  const task = step.task === 0 ? undefined : taskOf(step.task);
  if (task !== undefined) return { ...of, ...stepOfTask(shownRecord(task)) };
  // Retention may have removed the task of an old step.
  const taskId = step.task === 0 ? '' : idOf(taskIdText, step.task, step.taskSubmittedAt);
  const childRunId = step.child === 0 ? '' : idOf(runIdText, step.child, step.childStartedAt);
  return { ...of, ...stepWithoutTask({ ...step, state }), taskId, childRunId };
}

function parentOf({ startedBy }: RunRecord): RunSource['run']['parent'] {
  if (startedBy === undefined) return undefined;
  const { run, startedAt, step, relation } = startedBy;
  return { runId: idOf(runIdText, run, startedAt), step, relation: RUN_RELATIONS[relation] };
}

type IdText = typeof taskIdText;

function idOf(textOf: IdText, number: number, submittedAt: number): string {
  return textOf({ submittedAt, partition: PARTITION, number: number as TaskNumber });
}
