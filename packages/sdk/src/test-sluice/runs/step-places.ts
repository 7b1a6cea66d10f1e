import {
  type ReadonlyState,
  type Slot,
  STEP_STATES,
  type StepPlace,
  stepPlaces,
} from '@sluice/core';
import { UTF8 } from '../server/payloads.ts';
import { programOf } from '../server/step-outline.ts';

/** The steps of a run, as the core lists them. */
export function placesOf(state: ReadonlyState, run: Slot): StepPlace[] {
  return stepPlaces(state, run, programOf(state, run), UTF8);
}

/** States of steps that have begun and not ended. */
const OPEN: readonly string[] = ['running', 'stopping', 'reported'];

/** A step that runs. */
export interface OpenStep {
  readonly reference: string;
  readonly kind: string;
  /** Its task; undefined for a step without one. */
  readonly task: Slot | undefined;
}

/** Steps of the run that have begun and not ended. A loop waits only for its own steps. */
export function openSteps(state: ReadonlyState, run: Slot): OpenStep[] {
  const { steps } = state.runs;
  return placesOf(state, run).flatMap(({ slot, reference, kind }) => {
    if (!OPEN.includes(STEP_STATES[steps.state[slot]]) || kind === 'DO_WHILE') return [];
    const task = steps.link[slot] === 0 ? undefined : ((steps.link[slot] - 1) as Slot);
    return [{ reference, kind, task }];
  });
}
