import type { LeaseNumber, Slot } from '../../base/ids.ts';
import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { loseLease } from '../../decision/lease-ends.ts';
import { NOT_ARRIVED_REASON } from '../../task/task-state.ts';

/**
 * The partition was restored from a copy of an earlier moment. Whatever workers do by leases of
 * before, it does not count here: they may be of a life that went on after that moment.
 */
export interface ResetAfterRestore {
  readonly type: 'reset_after_restore';
  readonly now: number;
  readonly namespace: string;
  /** How far the numbers of leases are to be from those of any other life. */
  readonly leasesSkipped: number;
  /** The same for deliveries: a receiver drops a message whose id it has seen. */
  readonly deliveriesSkipped: number;
  readonly by?: Author;
}

export interface ResetAfterRestoreReply {
  /** Tasks that somebody held. */
  readonly returned: number;
  /** When the last thing happened before. */
  readonly upTo: number;
}

/**
 * Ends every lease, at no cost to its task, and goes on with numbers that no other life of this
 * partition has given or will give: that one may have granted the next numbers already, to sessions
 * that come here, for other tasks in the same slots (L6). The same holds for deliveries: receivers
 * drop a message whose id they have seen. What was to be delivered keeps its id.
 */
export function decideResetAfterRestore(
  decision: Decision,
  command: ResetAfterRestore,
): ResetAfterRestoreReply {
  const { state, emit, events } = decision;
  const upTo = state.now;
  const slots: Slot[] = [];
  for (const { session } of [...state.holders.holding()]) {
    state.holders.forEachHeld(state.holders.find(session), (slot) => slots.push(slot));
  }
  // Newest lease first: each return goes to the head, so that the oldest ends up in front.
  slots.sort((a, b) => state.tasks.lease[b] - state.tasks.lease[a]);
  for (const slot of slots) loseLease(decision, slot, NOT_ARRIVED_REASON);
  events.numbersSkipped.nextLease = (state.nextLease + command.leasesSkipped) as LeaseNumber;
  events.numbersSkipped.nextDelivery = state.outbox.next + command.deliveriesSkipped;
  emit(events.numbersSkipped);
  audit(decision, command.by, { namespace: command.namespace, action: 'restored' });
  return { returned: slots.length, upTo };
}
