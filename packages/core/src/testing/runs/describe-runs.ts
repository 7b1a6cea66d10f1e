import type { Slot } from '../../base/ids.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { RUN_REASONS, RUN_STATES, STEP_STATES } from '../../workflow/run-state.ts';
import { testUtf8 } from '../test-utf8.ts';

/** A run as plain values. */
export interface RunDescription {
  readonly slot: number;
  readonly number: number;
  readonly state: string;
  readonly reason: string;
  readonly outcome: number;
  readonly program: string;
  readonly priority: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly base: number;
  readonly live: number;
  readonly promised: number;
  readonly decider: number;
  readonly isInLine: boolean;
  readonly correlation: string;
  readonly tags: string;
  readonly dedupe: number;
  readonly input: string;
  readonly output: string;
  readonly variables: string;
  readonly steps: readonly StepDescription[];
}

export interface StepDescription {
  readonly state: string;
  readonly reason: string;
  readonly waiting: number;
  /** Number of its task; 0 without one. */
  readonly task: number;
  readonly endedAt: number;
  readonly output: string;
}

export function describeRuns(state: ReadonlyState): RunDescription[] {
  const { table } = state.runs;
  const runs: RunDescription[] = [];
  for (let slot = 0; slot < table.capacity; slot++) {
    if (table.number[slot] !== 0) runs.push(describeRun(state, slot as Slot));
  }
  return runs;
}

export function describeRun(state: ReadonlyState, slot: Slot): RunDescription {
  const { table, correlations } = state.runs;
  const { name, version } = state.programs.at(table.program[slot]);
  return {
    slot,
    number: table.number[slot],
    state: RUN_STATES[table.state[slot]],
    reason: RUN_REASONS[table.reason[slot]],
    outcome: table.outcome[slot],
    program: `${name}/${version}`,
    priority: table.priority[slot],
    startedAt: table.startedAt[slot],
    endedAt: table.endedAt[slot],
    base: table.base[slot],
    live: table.live[slot],
    promised: table.promised[slot],
    decider: table.decider[slot],
    isInLine: table.isInLine[slot] === 1,
    correlation: correlations.textAt(table.correlation[slot]),
    tags: state.texts.tags.textAt(table.tags[slot]),
    dedupe: table.dedupe[slot],
    input: text(state, table.input[slot], table.inputLength[slot]),
    output: text(state, table.output[slot], table.outputLength[slot]),
    variables: text(state, table.variables[slot], table.variablesLength[slot]),
    steps: Array.from({ length: table.size[slot] }, (_, place) =>
      describeStep(state, table.base[slot] + place),
    ),
  };
}

function describeStep(state: ReadonlyState, step: number): StepDescription {
  const { steps } = state.runs;
  const task = steps.link[step] - 1;
  return {
    state: STEP_STATES[steps.state[step]],
    reason: RUN_REASONS[steps.reason[step]],
    waiting: steps.waiting[step],
    task: task < 0 ? 0 : state.tasks.number[task],
    endedAt: steps.endedAt[step],
    output: text(state, steps.output[step], steps.outputLength[step]),
  };
}

function text({ payloads }: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return '';
  const start = payloads.startOf(reference);
  return testUtf8.decode(payloads.bytesOf(reference).subarray(start, start + length));
}
