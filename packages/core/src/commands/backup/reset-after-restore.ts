import type { LeaseNumber, Slot } from '../../base/ids.ts';
import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { loseLease } from '../../decision/lease-ends.ts';
import { NOT_ARRIVED_REASON } from '../../task/task-state.ts';

/**
 * The partition was restored from a backup. Leases from before the restore no longer count: the
 * original partition may have continued after the backup was taken.
 */
export interface ResetAfterRestore {
  readonly type: 'reset_after_restore';
  readonly now: number;
  readonly namespace: string;
  /**
   * How many lease numbers to skip, so that new leases differ from all leases granted after the
   * backup.
   */
  readonly leasesSkipped: number;
  /** The same for deliveries: a receiver drops a message whose id it has seen. */
  readonly deliveriesSkipped: number;
  readonly by?: Author;
}

export interface ResetAfterRestoreReply {
  /** Number of tasks whose leases ended. */
  readonly returned: number;
  /** Time of the last event before the restore. */
  readonly upTo: number;
}

/**
 * Ends every lease, at no cost to its task, and skips numbers.
 *
 * After the backup, the original partition may have granted the next lease numbers for other tasks
 * in the same slots, and sessions that hold those leases may connect here. Skipping numbers fences
 * them out (L6). Delivery numbers skip too, because receivers drop a message whose id they have
 * seen. Pending deliveries keep their ids.
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
  // Newest lease first: each task returns to the head, so that the oldest ends up in front.
  slots.sort((a, b) => state.tasks.lease[b] - state.tasks.lease[a]);
  for (const slot of slots) loseLease(decision, slot, NOT_ARRIVED_REASON);
  events.numbersSkipped.nextLease = (state.nextLease + command.leasesSkipped) as LeaseNumber;
  events.numbersSkipped.nextDelivery = state.outbox.next + command.deliveriesSkipped;
  emit(events.numbersSkipped);
  audit(decision, command.by, { namespace: command.namespace, action: 'restored' });
  return { returned: slots.length, upTo };
}
