import type { Delivery } from '../../state/outbox.ts';

/** What every event says of the delivery that it is about. */
export function subjectOf({ number, task, state }: Delivery) {
  return { delivery: number, task, state };
}
