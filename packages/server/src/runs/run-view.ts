import {
  childIdOf,
  parentIdOf,
  type ReadonlyState,
  RUN_REASONS,
  RUN_RELATIONS,
  RUN_STATES,
  runIdOf,
  type Slot,
  STEP_STATES,
} from '@sluice/core';
import {
  type RunSource,
  type ShownStep,
  stepOfTask,
  stepWithoutTask,
} from '../answers/shown-run.ts';
import { programOf } from '../base/step-outline.ts';
import { payloadText, shownTask } from '../tasks/task-view.ts';

/** A run in memory; valid as long as the state does not change. */
export function runSource(state: ReadonlyState, slot: Slot): RunSource {
  const { table, steps, correlations } = state.runs;
  const program = state.programs.at(table.program[slot]);
  let known: StepPlace[] | undefined;
  const slots = (): StepPlace[] => {
    known ??= slotsOf(state, slot);
    return known;
  };
  return {
    run: {
      id: runIdOf(state, slot),
      workflow: program.name,
      version: program.version,
      state: RUN_STATES[table.state[slot]],
      outcome: RUN_STATES[table.outcome[slot]],
      reason: RUN_REASONS[table.reason[slot]],
      priority: table.priority[slot],
      correlation: correlations.textAt(table.correlation[slot]),
      parent: parentOf(state, slot),
      tags: state.texts.tags.at(table.tags[slot]),
      startedAt: table.startedAt[slot],
      endedAt: table.endedAt[slot],
      variables: payloadText(state, table.variables[slot], table.variablesLength[slot]),
      input: payloadText(state, table.input[slot], table.inputLength[slot]),
      result: payloadText(state, table.output[slot], table.outputLength[slot]),
    },
    steps: table.size[slot],
    stateAt: (place) => STEP_STATES[steps.state[slots()[place].slot]],
    stepAt: (place) => stepAt(state, slots()[place]),
  };
}

function parentOf(state: ReadonlyState, slot: Slot): RunSource['run']['parent'] {
  const { table, parentReferences } = state.runs;
  if (table.parent[slot] === 0) return undefined;
  return {
    runId: parentIdOf(state, slot),
    step: parentReferences.textAt(table.parentReference[slot]),
    relation: RUN_RELATIONS[table.relation[slot]],
  };
}

/** A step of a run in memory. */
interface StepPlace {
  readonly slot: number;
  /** Iterations of the loops around it. */
  readonly suffix: string;
}

/** The steps of a run: those outside of loops first, then each iteration, oldest first. */
function slotsOf(state: ReadonlyState, run: Slot): StepPlace[] {
  const { table, steps } = state.runs;
  const { scopes } = state.programs.at(table.program[run]);
  const sizes = new Map(scopes.map(({ first, arrivals }) => [first, arrivals.length]));
  const found: StepPlace[] = [];
  const frames = [{ base: table.base[run], suffix: '' }];
  for (const { base, suffix } of frames) {
    const size = sizes.get(steps.node[base]) ?? 0;
    for (let slot = base; slot < base + size; slot++) {
      found.push({ slot, suffix });
      const inner: typeof frames = [];
      let iteration = steps.iteration[slot];
      for (let each = steps.inner[slot]; each !== 0; each = steps.earlier[each - 1]) {
        inner.push({ base: each - 1, suffix: `${suffix}__${iteration}` });
        iteration -= 1;
      }
      frames.push(...inner.reverse());
    }
  }
  return found;
}

function stepAt(state: ReadonlyState, { slot, suffix }: StepPlace): ShownStep {
  const { table, steps } = state.runs;
  const program = state.programs.at(table.program[steps.run[slot]]);
  const { reference, kind, name } = programOf(program).nodes[steps.node[slot]];
  const task = (steps.link[slot] - 1) as Slot;
  const of = {
    reference: reference + suffix,
    type: kind,
    name,
    state: STEP_STATES[steps.state[slot]],
    reason: RUN_REASONS[steps.reason[slot]],
  };
  if (task >= 0) return { ...of, ...stepOfTask(shownTask(state, task)) };
  const step = {
    state: of.state,
    startedAt: steps.startedAt[slot],
    endedAt: steps.endedAt[slot],
    input: payloadText(state, steps.input[slot], steps.inputLength[slot]),
    result: payloadText(state, steps.output[slot], steps.outputLength[slot]),
  };
  return { ...of, ...stepWithoutTask(step), taskId: '', childRunId: childIdOf(state, slot) };
}
