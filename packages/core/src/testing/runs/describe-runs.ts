import type { Slot } from '../../base/ids.ts';
import { frameSize } from '../../state/runs/run-frames.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { RUN_REASONS, RUN_RELATIONS, RUN_STATES, STEP_STATES } from '../../workflow/run-state.ts';
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
  /** When its timer is due; 0 without one. */
  readonly until: number;
  readonly size: number;
  readonly live: number;
  readonly promised: number;
  readonly decider: number;
  readonly isInLine: boolean;
  /** Number of the run that started it; 0 for none. */
  readonly parent: number;
  /** Reference of the step that started it, and how the runs are related. */
  readonly parentReference: string;
  readonly relation: string;
  /** Slot of the step that waits for its end plus one; 0 for none. */
  readonly parentStep: number;
  readonly depth: number;
  /** Number of the evaluation that its output waits for; 0 for none. */
  readonly evaluation: number;
  readonly correlation: string;
  readonly tags: string;
  readonly dedupe: number;
  readonly input: string;
  readonly output: string;
  readonly variables: string;
  readonly steps: readonly StepDescription[];
}

export interface StepDescription {
  readonly slot: number;
  /** Its place in the definition. */
  readonly node: number;
  /** Iterations of the loops around it, as `__2`. */
  readonly suffix: string;
  readonly iteration: number;
  readonly evaluation: number;
  readonly isEvaluating: boolean;
  /** When its timer is due; 0 without one. */
  readonly until: number;
  readonly startedAt: number;
  readonly input: string;
  readonly state: string;
  readonly reason: string;
  readonly waiting: number;
  /** Number of its task; 0 without one. */
  readonly task: number;
  /** Number of the run that it started; 0 without one. */
  readonly child: number;
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
    until: state.runs.timers.has(slot) ? table.timerAt[slot] : 0,
    size: table.size[slot],
    live: table.live[slot],
    promised: table.promised[slot],
    decider: table.decider[slot],
    isInLine: table.isInLine[slot] === 1,
    parent: table.parent[slot],
    parentReference: state.runs.parentReferences.textAt(table.parentReference[slot]),
    relation: RUN_RELATIONS[table.relation[slot]],
    parentStep: table.parentStep[slot],
    depth: table.depth[slot],
    evaluation: table.isEvaluating[slot] === 1 ? table.evaluation[slot] : 0,
    correlation: correlations.textAt(table.correlation[slot]),
    tags: state.texts.tags.textAt(table.tags[slot]),
    dedupe: table.dedupe[slot],
    input: text(state, table.input[slot], table.inputLength[slot]),
    output: text(state, table.output[slot], table.outputLength[slot]),
    variables: text(state, table.variables[slot], table.variablesLength[slot]),
    steps: describeFrame(state, table.base[slot], ''),
  };
}

/** The steps of a frame, each followed by the frames of its loop or fork, newest first. */
function describeFrame(state: ReadonlyState, base: number, suffix: string): StepDescription[] {
  const { steps } = state.runs;
  return Array.from({ length: frameSize(state, base) }, (_, place) => base + place).flatMap(
    (step) => {
      const inside: StepDescription[] = [];
      let iteration = steps.iteration[step];
      const isFork = iteration === 0;
      for (let each = steps.inner[step]; each !== 0; each = steps.earlier[each - 1]) {
        const within = isFork ? suffix : `${suffix}__${iteration}`;
        inside.push(...describeFrame(state, each - 1, within));
        iteration -= 1;
      }
      return [describeStep(state, step, suffix), ...inside];
    },
  );
}

function describeStep(state: ReadonlyState, step: number, suffix: string): StepDescription {
  const { steps, stepTimers } = state.runs;
  const task = steps.link[step] - 1;
  return {
    slot: step,
    node: steps.node[step],
    suffix,
    iteration: steps.iteration[step],
    evaluation: steps.evaluation[step],
    isEvaluating: steps.isEvaluating[step] !== 0,
    until: stepTimers.has(step as Slot) ? steps.until[step] : 0,
    startedAt: steps.startedAt[step],
    input: text(state, steps.input[step], steps.inputLength[step]),
    state: STEP_STATES[steps.state[step]],
    reason: RUN_REASONS[steps.reason[step]],
    waiting: steps.waiting[step],
    task: task < 0 ? 0 : state.tasks.number[task],
    child: steps.child[step],
    endedAt: steps.endedAt[step],
    output: text(state, steps.output[step], steps.outputLength[step]),
  };
}

function text({ payloads }: ReadonlyState, reference: number, length: number): string {
  if (length === 0) return '';
  const start = payloads.startOf(reference);
  return testUtf8.decode(payloads.bytesOf(reference).subarray(start, start + length));
}
