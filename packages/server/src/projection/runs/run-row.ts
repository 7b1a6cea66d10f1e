import type { RunRecord, StepRecord } from './run-record.ts';

/** The part of a run without separate columns, as JSON. Lists, as for tasks. */
export function packRun(record: RunRecord): string {
  const { tags, state, endedAt, version, priority, program } = record;
  const { runState, outcome, reason, variables } = record;
  return JSON.stringify([
    [state, endedAt, version, priority, program, runState, outcome, reason],
    [tags, variables],
    record.steps.map(packStep),
    record.changes,
  ]);
}

/** The columns of a row. */
type RunColumns = Pick<
  RunRecord,
  'number' | 'submittedAt' | 'queue' | 'parent' | 'input' | 'result'
> & { readonly body: string };

export function unpackRun(row: RunColumns): RunRecord {
  const [numbers, texts, steps, changes] = JSON.parse(row.body) as Body;
  const [state, endedAt, version, priority, program, runState, outcome, reason] = numbers;
  const [tags, variables] = texts;
  const { number, submittedAt, queue, parent, input, result } = row;
  return {
    ...{ number, submittedAt, queue, parent, tags, input, result, state, endedAt },
    isDiscarded: true,
    ...{ version, priority, program, runState, outcome, reason, variables },
    steps: steps.map(unpackStep),
    changes: [...changes],
  };
}

type Numbers = readonly [number, number, number, number, number, number, number, number];
type PackedStep = readonly [
  texts: readonly [reference: string, kind: string, name: string, input: string, result: string],
  numbers: readonly [number, number, number, number, number, number, number],
];
type Body = readonly [
  Numbers,
  readonly [string, string],
  readonly PackedStep[],
  RunRecord['changes'],
];

function packStep(step: StepRecord): PackedStep {
  const { reference, kind, name, input, result } = step;
  const { slot, state, reason, task, taskSubmittedAt, startedAt, endedAt } = step;
  return [
    [reference, kind, name, input, result],
    [slot, state, reason, task, taskSubmittedAt, startedAt, endedAt],
  ];
}

function unpackStep([texts, numbers]: PackedStep): StepRecord {
  const [reference, kind, name, input, result] = texts;
  const [slot, state, reason, task, taskSubmittedAt, startedAt, endedAt] = numbers;
  const outline = { reference, kind, name, slot, input, result };
  return { ...outline, state, reason, task, taskSubmittedAt, startedAt, endedAt };
}
