import type { RunRecord, RunStarter, StepRecord } from './run-record.ts';

/** The part of a run without separate columns, as JSON. Lists, as for tasks. */
export function packRun(record: RunRecord): string {
  const { tags, state, endedAt, version, priority, program } = record;
  const { runState, outcome, reason, variables } = record;
  return JSON.stringify([
    [state, endedAt, version, priority, program, runState, outcome, reason],
    [tags, variables],
    record.steps.map(packStep),
    record.changes,
    ...(record.startedBy === undefined ? [] : [packStarter(record.startedBy)]),
  ]);
}

function packStarter({ run, startedAt, step, relation }: RunStarter): PackedStarter {
  return [run, startedAt, step, relation];
}

function unpackStarter([run, startedAt, step, relation]: PackedStarter): RunStarter {
  return { run, startedAt, step, relation };
}

/** The columns of a row. */
type RunColumns = Pick<
  RunRecord,
  'number' | 'submittedAt' | 'queue' | 'parent' | 'input' | 'result'
> & { readonly body: string };

export function unpackRun(row: RunColumns): RunRecord {
  const [numbers, texts, steps, changes, starter] = JSON.parse(row.body) as Body;
  const [state, endedAt, version, priority, program, runState, outcome, reason] = numbers;
  const [tags, variables] = texts;
  const { number, submittedAt, queue, parent, input, result } = row;
  return {
    ...{ number, submittedAt, queue, parent, tags, input, result, state, endedAt },
    isDiscarded: true,
    ...{ version, priority, program, runState, outcome, reason, variables },
    steps: steps.map(unpackStep),
    changes: [...changes],
    ...(starter === undefined ? {} : { startedBy: unpackStarter(starter) }),
  };
}

type Numbers = readonly [number, number, number, number, number, number, number, number];
type PackedStarter = readonly [run: number, startedAt: number, step: string, relation: number];
type PackedStep = readonly [
  texts: readonly [reference: string, kind: string, name: string, input: string, result: string],
  numbers: readonly [number, number, number, number, number, number, number],
  /** Absent without one. */
  child?: readonly [number: number, startedAt: number],
];
type Body = readonly [
  Numbers,
  readonly [string, string],
  readonly PackedStep[],
  RunRecord['changes'],
  starter?: PackedStarter,
];

function packStep(step: StepRecord): PackedStep {
  const { reference, kind, name, input, result } = step;
  const { slot, state, reason, task, taskSubmittedAt, startedAt, endedAt } = step;
  const texts = [reference, kind, name, input, result] as const;
  const numbers = [slot, state, reason, task, taskSubmittedAt, startedAt, endedAt] as const;
  return step.child === 0 ? [texts, numbers] : [texts, numbers, [step.child, step.childStartedAt]];
}

function unpackStep([texts, numbers, started = [0, 0]]: PackedStep): StepRecord {
  const [reference, kind, name, input, result] = texts;
  const [slot, state, reason, task, taskSubmittedAt, startedAt, endedAt] = numbers;
  const [child, childStartedAt] = started;
  const outline = { reference, kind, name, slot, input, result, child, childStartedAt };
  return { ...outline, state, reason, task, taskSubmittedAt, startedAt, endedAt };
}
