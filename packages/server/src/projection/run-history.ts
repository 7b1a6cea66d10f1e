import { RUN_STATES, STEP_STATES, type TaskNumber, taskIdText } from '@sluice/core';
import { timeText } from '../base/time-text.ts';
import type { RunRecord, StepRecord } from './runs/run-record.ts';

/** Entries of an answer: the newest ones. */
const ENTRIES_MAX = 2000;

const PARTITION = 0;

interface Entry {
  readonly at: number;
  /** Null for a change of the run itself. */
  readonly step: string | null;
  readonly type: string | null;
  readonly state: string;
  readonly taskId: string | null;
}

/** Every change of a run and the beginning and end of each of its steps, as JSON text. */
export function runHistoryJson(record: RunRecord): string {
  const ofRun = record.changes.map(([at, state]): Entry => {
    return { at, step: null, type: null, state: RUN_STATES[state], taskId: null };
  });
  // In the same millisecond a run that goes on lets its steps begin, and their ends end it.
  const isLead = ({ state }: Entry): boolean => state === 'running' || state === 'paused';
  const entries = [
    ...ofRun.filter(isLead),
    ...record.steps.flatMap(ofStep),
    ...ofRun.filter((each) => !isLead(each)),
  ];
  const items = entries
    .sort((one, other) => one.at - other.at)
    .slice(-ENTRIES_MAX)
    .map((entry) => ({ ...entry, at: timeText(entry.at) }));
  return JSON.stringify({ items });
}

function ofStep(step: StepRecord): Entry[] {
  const { reference, kind: type, task, taskSubmittedAt, startedAt, endedAt } = step;
  const number = task as TaskNumber;
  const place = { submittedAt: taskSubmittedAt, partition: PARTITION, number };
  const of = { step: reference, type, taskId: task === 0 ? null : taskIdText(place) };
  const beganAt = taskSubmittedAt || startedAt;
  return [
    ...(beganAt === 0 ? [] : [{ at: beganAt, ...of, state: 'running' }]),
    ...(endedAt === 0 ? [] : [{ at: endedAt, ...of, state: STEP_STATES[step.state] }]),
  ];
}
