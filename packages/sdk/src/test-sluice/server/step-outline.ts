import {
  Branches,
  compileDefinition,
  type Program,
  type ReadonlyState,
  referenceOf,
  runIdText,
  type Slot,
  type StoredProgram,
  type TaskNumber,
} from '@sluice/core';
import { UTF8 } from './payloads.ts';

const compiled = new WeakMap<StoredProgram, Program>();

/** The definition of a run. It was checked before. */
export function programOf({ runs, programs }: ReadonlyState, run: Slot): Program {
  const stored = programs.at(runs.table.program[run]);
  const known = compiled.get(stored);
  if (known !== undefined) return known;
  const { program } = compileDefinition(JSON.parse(stored.text), UTF8);
  if (program === undefined) throw new Error('a stored definition does not compile');
  compiled.set(stored, program);
  return program;
}

export function runIdOf({ partition, runs }: ReadonlyState, slot: Slot): string {
  const number = runs.table.number[slot] as TaskNumber;
  return runIdText({ submittedAt: runs.table.startedAt[slot], partition, number });
}

/** The run and the step of a task that belongs to one. */
export function placeInRun(state: ReadonlyState, slot: Slot): { runId?: string; step?: string } {
  const step = state.tasks.step[slot] - 1;
  if (step < 0) return {};
  const run = state.runs.steps.run[step] as Slot;
  const branches = new Branches(state, UTF8);
  const reference = referenceOf(state, programOf(state, run), step, branches);
  return { runId: runIdOf(state, run), step: reference };
}
