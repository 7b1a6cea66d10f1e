import { NO_SLOT, type ReadonlyState, type Slot } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { UTF8 } from '../base/utf8.ts';

/** The schedule with this id; `NO_SLOT` when the namespace has none. */
export function findSchedule(state: ReadonlyState, namespace: string, id: string): Slot {
  const use = state.namespaces.find(namespace);
  if (use === undefined || use.schedules === 0) return NO_SLOT;
  return state.schedules.find(use.index, UTF8.encode(id));
}

export function foundSchedule(state: ReadonlyState, namespace: string, id: string): Slot {
  const slot = findSchedule(state, namespace, id);
  if (slot === NO_SLOT) throw scheduleNotFound(id);
  return slot;
}

export function scheduleNotFound(id: string): SluiceError {
  return new SluiceError('schedule_not_found', `no schedule '${id}'`);
}
