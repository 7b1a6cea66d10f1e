import type { Delivery } from '../../state/outbox.ts';

/** The fields with which every event names its delivery. */
export function subjectOf({ number, task, state }: Delivery) {
  return { delivery: number, task, state };
}
