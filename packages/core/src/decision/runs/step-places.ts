import type { Slot } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { framesOf } from '../../state/runs/run-frames.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Program, StepKind } from '../../workflow/program.ts';
import { Branches, kindOfBranch } from './branches.ts';

/** A step of a run in memory. */
export interface StepPlace {
  readonly slot: number;
  /** With the iterations of the loops around it: `ref__2`. */
  readonly reference: string;
  readonly kind: StepKind;
  /** Its task type. */
  readonly name: string;
}

/** The steps of a run: those outside of loops first, then each iteration, oldest first. */
export function stepPlaces(
  state: ReadonlyState,
  run: Slot,
  program: Program,
  utf8: Utf8,
): StepPlace[] {
  const { node } = state.runs.steps;
  const branches = new Branches(state, utf8);
  return framesOf(state, run).flatMap(({ base, size, suffix, isFork }) =>
    Array.from({ length: size }, (_, index) => {
      const slot = base + index;
      const { kind, reference, name } = program.nodes[node[slot]];
      if (!isFork) return { slot, reference: reference + suffix, kind, name };
      const branch = branches.at(slot);
      const ofBranch = kindOfBranch(branch.workflow);
      return { slot, reference: branch.reference + suffix, kind: ofBranch, name: branch.name };
    }),
  );
}
