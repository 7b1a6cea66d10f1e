import {
  compileDefinition,
  type Program,
  type ReadonlyState,
  runIdText,
  type Slot,
  type StoredProgram,
  type TaskNumber,
} from '@sluice/core';
import { UTF8 } from './payloads.ts';

const compiled = new WeakMap<StoredProgram, Program['nodes']>();

/** The steps of a stored definition, in the order of their places. */
export function stepsOf(stored: StoredProgram): Program['nodes'] {
  const known = compiled.get(stored);
  if (known !== undefined) return known;
  const nodes = compileDefinition(JSON.parse(stored.text), UTF8).program?.nodes ?? [];
  compiled.set(stored, nodes);
  return nodes;
}

export function runIdOf({ partition, runs }: ReadonlyState, slot: Slot): string {
  const number = runs.table.number[slot] as TaskNumber;
  return runIdText({ submittedAt: runs.table.startedAt[slot], partition, number });
}

/** The run and the step of a task that belongs to one. */
export function placeInRun(state: ReadonlyState, slot: Slot): { runId?: string; step?: string } {
  const step = state.tasks.step[slot] - 1;
  if (step < 0) return {};
  const { steps, table } = state.runs;
  const run = steps.run[step] as Slot;
  const { reference } = stepsOf(state.programs.at(table.program[run]))[step - table.base[run]];
  return { runId: runIdOf(state, run), step: reference };
}
