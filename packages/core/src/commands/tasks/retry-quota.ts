import { counts } from '../../apply/namespace-counts.ts';
import type { Slot } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { Decision } from '../../decision/decision.ts';
import { DEFAULT_SHAPE } from '../../state/namespaces.ts';
import { exceededQuota, type QuotaName } from '../../state/quotas.ts';
import type { ReadonlyState } from '../../state/state.ts';

import type { ReadmitTask } from './readmit-task.ts';

/**
 * The quota that a task in memory would exceed by running again with an input of `inputBytes`. A
 * dead letter counts already, so a redrive needs no room.
 */
export function quotaOfRetry(
  state: ReadonlyState,
  namespace: string,
  { slot, inputBytes }: { readonly slot: Slot; readonly inputBytes: number },
): QuotaName | undefined {
  const { tasks } = state;
  if (counts(state, slot)) {
    const payloadBytes = inputBytes - tasks.inputLength[slot] - tasks.resultLength[slot];
    return exceededQuota(state, namespace, { payloadBytes });
  }
  const shapes = addedShapes(state, namespace, tasks.shape[slot]);
  return exceededQuota(state, namespace, { tasks: 1, payloadBytes: inputBytes, shapes });
}

/** The quota that a task which left memory would exceed by running again. */
export function quotaOfReadmission(
  { state, shapeTexts }: Decision,
  { namespace, spec, input }: ReadmitTask,
): QuotaName | undefined {
  const place = state.texts.shape.placeOf(shapeTexts.textOf(spec));
  const isKnown = state.queueOf(queueKey(namespace, spec.type)) !== undefined;
  return exceededQuota(state, namespace, {
    tasks: 1,
    payloadBytes: input.length,
    taskTypes: isKnown ? 0 : 1,
    shapes: addedShapes(state, namespace, place),
  });
}

function addedShapes(
  { namespaces }: ReadonlyState,
  namespace: string,
  place: number | undefined,
): number {
  if (place === DEFAULT_SHAPE) return 0;
  return place !== undefined && namespaces.find(namespace)?.shapes.has(place) === true ? 0 : 1;
}
