import type { Slot, TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import type { ReadonlyState } from '../../state/state.ts';

/** The id of the run in this slot. */
export function runIdOf({ runs, partition }: ReadonlyState, run: Slot): string {
  const { number, startedAt } = runs.table;
  return runIdText({
    submittedAt: startedAt[run],
    partition,
    number: number[run] as TaskNumber,
  });
}

/** The id of the run that a step started; empty without one. */
export function childIdOf({ runs, partition }: ReadonlyState, step: number): string {
  const { child, childAt } = runs.steps;
  if (child[step] === 0) return '';
  return runIdText({
    submittedAt: childAt[step],
    partition,
    number: child[step] as TaskNumber,
  });
}

/** The id of the run that started this one; empty without one. */
export function parentIdOf({ runs, partition }: ReadonlyState, run: Slot): string {
  const { parent, parentAt } = runs.table;
  if (parent[run] === 0) return '';
  return runIdText({
    submittedAt: parentAt[run],
    partition,
    number: parent[run] as TaskNumber,
  });
}
