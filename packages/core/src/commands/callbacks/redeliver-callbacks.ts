import { parseDeliveryId } from '../../base/delivery-id.ts';
import { namespaceOf } from '../../base/queue-key.ts';
import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import type { Delivery } from '../../state/outbox.ts';
import { subjectOf } from './delivery-subject.ts';

const REDELIVERED_PER_COMMAND = 1000;

/** Immediately retries deliveries that were given up or wait for their next try. */
export interface RedeliverCallbacks {
  readonly type: 'redeliver_callbacks';
  readonly now: number;
  readonly namespace: string;
  /** Ids of deliveries. Without them: all deliveries that were given up. */
  readonly ids?: readonly string[];
  readonly by?: Author;
}

export interface RedeliverCallbacksReply {
  readonly redelivered: number;
  /** Ids that are not known, or whose delivery has ended. */
  readonly unknown: readonly string[];
  /** True when the limit per command was reached. The caller repeats the command to continue. */
  readonly more: boolean;
}

export function decideRedeliver(
  decision: Decision,
  command: RedeliverCallbacks,
): RedeliverCallbacksReply {
  const { state } = decision;
  const { namespace, ids } = command;
  const isOwn = ({ queue }: Delivery) => namespaceOf(state.queues[queue].key) === namespace;
  const unknown: string[] = [];
  const meant = new Set<Delivery>();
  for (const id of ids ?? []) {
    const key = parseDeliveryId(id);
    const isHere = key?.partition === state.partition;
    const delivery = isHere ? state.outbox.get(key.number) : undefined;
    if (delivery !== undefined && isOwn(delivery)) meant.add(delivery);
    else unknown.push(id);
  }
  let more = false;
  for (const delivery of ids === undefined ? state.outbox.givenUp() : []) {
    if (!isOwn(delivery)) continue;
    more = meant.size === REDELIVERED_PER_COMMAND;
    if (more) break;
    meant.add(delivery);
  }
  if (meant.size > 0) audit(decision, command.by, { namespace, action: 'callbacks_redelivered' });
  for (const delivery of meant) redeliver(decision, delivery);
  return { redelivered: meant.size, unknown, more };
}

function redeliver({ emit, events, outputs }: Decision, delivery: Delivery): void {
  emit(Object.assign(events.callbackRedelivered, subjectOf(delivery)));
  outputs.deliveries.push(delivery.number);
}
