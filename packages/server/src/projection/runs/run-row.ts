import type { RunRecord, StepRecord } from './run-record.ts';

/** The part of a run without separate columns, as JSON. Lists, as for tasks. */
export function packRun(record: RunRecord): string {
  const { tags, state, endedAt, version, priority, base } = record;
  const { runState, outcome, reason, variables } = record;
  return JSON.stringify([
    [state, endedAt, version, priority, base, runState, outcome, reason],
    [tags, variables],
    record.steps.map(packStep),
  ]);
}

/** The columns of a row. */
type RunColumns = Pick<
  RunRecord,
  'number' | 'submittedAt' | 'queue' | 'parent' | 'input' | 'result'
> & { readonly body: string };

export function unpackRun(row: RunColumns): RunRecord {
  const [numbers, texts, steps] = JSON.parse(row.body) as Body;
  const [state, endedAt, version, priority, base, runState, outcome, reason] = numbers;
  const [tags, variables] = texts;
  const { number, submittedAt, queue, parent, input, result } = row;
  return {
    ...{ number, submittedAt, queue, parent, tags, input, result, state, endedAt },
    isDiscarded: true,
    ...{ version, priority, base, runState, outcome, reason, variables },
    steps: steps.map(unpackStep),
  };
}

type Numbers = readonly [number, number, number, number, number, number, number, number];
type PackedStep = readonly [string, string, string, number, number, number, number, number, string];
type Body = readonly [Numbers, readonly [string, string], readonly PackedStep[]];

function packStep(step: StepRecord): PackedStep {
  const { reference, kind, name, state, reason, task, taskSubmittedAt, endedAt, output } = step;
  return [reference, kind, name, state, reason, task, taskSubmittedAt, endedAt, output];
}

function unpackStep(packed: PackedStep): StepRecord {
  const [reference, kind, name, state, reason, task, taskSubmittedAt, endedAt, output] = packed;
  return { reference, kind, name, state, reason, task, taskSubmittedAt, endedAt, output };
}
