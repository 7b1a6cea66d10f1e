import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Branches } from '../decision/runs/branches.ts';
import { findStep, outermost } from '../decision/runs/run-place.ts';
import type { ReadonlyState } from '../state/state.ts';
import type { Program, StepKind } from '../workflow/program.ts';
import { isRunOver, isStepOver, STEP_DUE, STEP_PENDING } from '../workflow/run-state.ts';

interface Named {
  readonly run: Slot;
  readonly program: Program;
  readonly reference: string;
  readonly branches: Branches;
}

/** Kinds of steps that only other things end. */
const ENDED_BY: Partial<Record<StepKind, string>> = {
  DO_WHILE: 'is a loop, which ends with its steps',
  SUB_WORKFLOW: 'ends with the run that it started',
};

/** Why a call cannot end, or begin with, the step of this reference. */
export function whyNoStep(state: ReadonlyState, named: Named): string {
  const { run, program, reference, branches } = named;
  const { steps, table } = state.runs;
  const subject = `step '${reference}'`;
  const isOver = isRunOver(table.state[run]);
  const unbegun = isOver ? 'has not begun' : 'has not begun yet';
  const step = findStep(state, outermost(state.runs, run, program), reference, branches);
  if (step === NO_SLOT) {
    return isOfDefinition(program, reference)
      ? `${subject} ${unbegun}`
      : `the run has no step '${reference}'`;
  }
  const stepState = steps.state[step];
  if (stepState === STEP_PENDING || stepState === STEP_DUE) return `${subject} ${unbegun}`;
  if (isStepOver(stepState) && !isOver) return `${subject} has ended`;
  const how = ENDED_BY[program.nodes[steps.node[step]].kind];
  return `${subject} ${how ?? 'is not in a state in which a call can end it'}`;
}

/** Whether the definition has the step, in as many loops as the reference names iterations. */
function isOfDefinition({ byReference, nodes, scopes }: Program, reference: string): boolean {
  const [name, ...iterations] = reference.split('__');
  const place = byReference.get(name);
  if (place === undefined) return false;
  let loops = 0;
  for (let { scope } = nodes[place]; scope !== 0; loops++) scope = nodes[scopes[scope].loop].scope;
  return iterations.length === 0 || iterations.length === loops;
}
