import type { ReadonlyState } from '../../state/state.ts';
import type { Scope } from '../../workflow/program.ts';

/**
 * Whether one pass through a scope fits into memory: all its steps, and the tasks that they may
 * submit. As at the start of a run, a pass that began must be able to end.
 */
export function hasRoomForFrame(state: ReadonlyState, scope: Pick<Scope, 'arrivals' | 'tasks'>) {
  const { tasks, runs, limits } = state;
  const hasTasks = tasks.count + runs.promised + scope.tasks <= limits.tasksMax;
  return hasTasks && runs.steps.hasRoomFor([scope.arrivals.length]);
}
