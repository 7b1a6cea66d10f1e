import { type ReadonlyState, type Slot, STEP_STATES } from '@sluice/core';
import { programOf } from '../server/step-outline.ts';

/** A step of a run. */
export interface StepPlace {
  readonly slot: number;
  /** With the iterations of the loops around it: `ref__2`. */
  readonly reference: string;
}

/** The steps of a run: those outside of loops first, then each iteration, oldest first. */
export function stepPlaces(state: ReadonlyState, run: Slot): StepPlace[] {
  const { table, steps } = state.runs;
  const { scopes, nodes } = programOf(state, run);
  const sizes = new Map(scopes.map(({ first, arrivals }) => [first, arrivals.length]));
  const found: StepPlace[] = [];
  const frames = [{ base: table.base[run], suffix: '' }];
  // The list grows: a loop adds its frames.
  for (const { base, suffix } of frames) {
    const size = sizes.get(steps.node[base]) ?? 0;
    for (let slot = base; slot < base + size; slot++) {
      found.push({ slot, reference: nodes[steps.node[slot]].reference + suffix });
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
  const { nodes } = programOf(state, run);
  return stepPlaces(state, run).flatMap(({ slot, reference }) => {
    const { kind } = nodes[steps.node[slot]];
    if (!OPEN.includes(STEP_STATES[steps.state[slot]]) || kind === 'DO_WHILE') return [];
    const task = steps.link[slot] === 0 ? undefined : ((steps.link[slot] - 1) as Slot);
    return [{ reference, kind, task }];
  });
}
