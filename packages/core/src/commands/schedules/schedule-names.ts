import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';

/** The schedule of this name; `NO_SLOT` when the namespace has none. */
export function findSchedule({ state, runWork }: Decision, namespace: string, name: string): Slot {
  const use = state.namespaces.find(namespace);
  if (use === undefined || use.schedules === 0) return NO_SLOT;
  return state.schedules.find(use.index, runWork.utf8.encode(name));
}
