import {
  type ReadonlyState,
  RUN_REASONS,
  RUN_STATES,
  runIdText,
  type Slot,
  STEP_STATES,
  type TaskNumber,
} from '@sluice/core';
import { type RunSource, type ShownStep, stepOfTask } from '../answers/shown-run.ts';
import { outlineOfProgram } from '../base/step-outline.ts';
import { payloadText, shownTask } from '../tasks/task-view.ts';

function runIdOf(state: ReadonlyState, slot: Slot): string {
  const { table } = state.runs;
  return runIdText({
    submittedAt: table.startedAt[slot],
    partition: state.partition,
    number: table.number[slot] as TaskNumber,
  });
}

/** A run in memory; valid as long as the state does not change. */
export function runSource(state: ReadonlyState, slot: Slot): RunSource {
  const { table, steps, correlations } = state.runs;
  const program = state.programs.at(table.program[slot]);
  const base = table.base[slot];
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
      tags: state.texts.tags.at(table.tags[slot]),
      startedAt: table.startedAt[slot],
      endedAt: table.endedAt[slot],
      variables: payloadText(state, table.variables[slot], table.variablesLength[slot]),
      input: payloadText(state, table.input[slot], table.inputLength[slot]),
      result: payloadText(state, table.output[slot], table.outputLength[slot]),
    },
    steps: table.size[slot],
    stateAt: (place) => STEP_STATES[steps.state[base + place]],
    stepAt: (place) => stepAt(state, slot, place),
  };
}

function stepAt(state: ReadonlyState, run: Slot, place: number): ShownStep {
  const { table, steps } = state.runs;
  const slot = table.base[run] + place;
  const { reference, kind, name } = outlineOfProgram(state.programs.at(table.program[run]))[place];
  const task = (steps.link[slot] - 1) as Slot;
  const of = {
    reference,
    type: kind,
    name,
    state: STEP_STATES[steps.state[slot]],
    reason: RUN_REASONS[steps.reason[slot]],
  };
  if (task >= 0) return { ...of, ...stepOfTask(shownTask(state, task)) };
  return {
    ...of,
    attempt: 0,
    taskId: '',
    // A step without a task ends when it begins.
    startedAt: steps.endedAt[slot],
    endedAt: steps.endedAt[slot],
    input: '',
    output: payloadText(state, steps.output[slot], steps.outputLength[slot]),
    error: '',
  };
}
