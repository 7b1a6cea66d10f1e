import type { BeginAgain, BeginAgainReply, RecordBackup } from './backup-commands.ts';
import { audit } from './decide-access.ts';
import type { Decision } from './decision.ts';
import type { LeaseNumber, Slot } from './ids.ts';
import { loseLease } from './lease-ends.ts';
import { NOT_ARRIVED_REASON } from './task-state.ts';

export function decideRecordBackup(decision: Decision, { namespace, by }: RecordBackup): void {
  audit(decision, by, { namespace, action: 'backup_taken' });
}

/**
 * Ends every lease, at no cost to its task, and goes on with numbers that no other life of this
 * partition has given or will give: that one may have granted the next numbers already, to sessions
 * that come here, for other tasks in the same slots (L6). The same holds for deliveries: receivers
 * drop a message whose id they have seen. What was to be delivered keeps its id.
 */
export function decideBeginAgain(decision: Decision, command: BeginAgain): BeginAgainReply {
  const { state, emit, events } = decision;
  const upTo = state.now;
  const slots: Slot[] = [];
  for (const { session } of [...state.holders.holding()]) {
    state.holders.forEachHeld(state.holders.find(session), (slot) => slots.push(slot));
  }
  // Newest lease first: each return goes to the head, so that the oldest ends up in front.
  slots.sort((a, b) => state.tasks.lease[b] - state.tasks.lease[a]);
  for (const slot of slots) loseLease(decision, slot, NOT_ARRIVED_REASON);
  events.leasesSkipped.next = (state.nextLease + command.leasesSkipped) as LeaseNumber;
  events.leasesSkipped.nextDelivery = state.outbox.next + command.deliveriesSkipped;
  emit(events.leasesSkipped);
  audit(decision, command.by, { namespace: command.namespace, action: 'restored' });
  return { returned: slots.length, upTo };
}
