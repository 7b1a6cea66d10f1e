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
  type StepPlace,
  stepPlaces,
} from '@sluice/core';
import type { Shows } from '@sluice/engine';
import {
  type RunSource,
  type ShownStep,
  stepOfTask,
  stepWithoutTask,
} from '../answers/shown-run.ts';
import { programOf } from '../base/step-outline.ts';
import { UTF8 } from '../base/utf8.ts';
import { payloadText, shownTask } from '../tasks/task-view.ts';

/**
 * A run in memory; valid as long as the state does not change. Says what it shows, and which tasks
 * while it shows them.
 */
export function runSource(state: ReadonlyState, slot: Slot, shows?: Shows): RunSource {
  shows?.run(slot);
  const { table, steps, correlations } = state.runs;
  const program = state.programs.at(table.program[slot]);
  let known: StepPlace[] | undefined;
  const slots = (): StepPlace[] => {
    known ??= stepPlaces(state, slot, programOf(program), UTF8);
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
    stepAt: (place) => stepAt(state, slots()[place], shows),
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

function stepAt(state: ReadonlyState, place: StepPlace, shows?: Shows): ShownStep {
  const { steps } = state.runs;
  const { slot, reference, kind, name } = place;
  const task = (steps.link[slot] - 1) as Slot;
  const of = {
    reference,
    type: kind,
    name,
    state: STEP_STATES[steps.state[slot]],
    reason: RUN_REASONS[steps.reason[slot]],
  };
  if (task >= 0) {
    shows?.task(task);
    return { ...of, ...stepOfTask(shownTask(state, task)) };
  }
  const step = {
    state: of.state,
    startedAt: steps.startedAt[slot],
    endedAt: steps.endedAt[slot],
    input: payloadText(state, steps.input[slot], steps.inputLength[slot]),
    result: payloadText(state, steps.output[slot], steps.outputLength[slot]),
  };
  return { ...of, ...stepWithoutTask(step), taskId: '', childRunId: childIdOf(state, slot) };
}
